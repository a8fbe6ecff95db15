// The address after "#" is PLACE?FIELD=VALUE&...: what is open, and every filter, so that a link shows what was seen.
const address = (() => {
  const parts = () => {
    const [place, ...rest] = location.hash.slice(1).split("?");
    return [place, new URLSearchParams(rest.join("?"))];
  };
  const write = (place, fields) => {
    const said = `${place}${String(fields) && "?"}${fields}`;
    if (said !== location.hash.slice(1)) history.replaceState(null, "", said ? `#${said}` : location.href.split("#")[0]);
  };
  let kept = parts()[1];
  return {
    place: () => { try { return decodeURIComponent(parts()[0]); } catch { return parts()[0]; } },
    go: (place) => write(encodeURIComponent(place), parts()[1]),
    get: (name) => kept.get(name) || "",
    set: (name, value) => {
      if (value) kept.set(name, value); else kept.delete(name);
      write(parts()[0], kept);
    },
    // A link within the page names a place alone: the filters that are set stay in the address.
    refresh: () => {
      const [place, fields] = parts();
      if (!String(fields) && String(kept)) write(place, kept); else kept = fields;
    },
  };
})();
