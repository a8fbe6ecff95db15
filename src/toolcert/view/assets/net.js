// What the server is asked, and the state that is in the address.
export async function get(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined && value !== null));
  const response = await fetch(`${path}?${query}`, { signal, headers: { Accept: "application/json" } });
  return told(response);
}

export async function post(path, value) {
  const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });
  return told(response);
}

async function told(response) {
  if (response.status === 403) throw new Error("The viewer does not know this browser any more. Open the address that toolcert view printed.");
  const value = await response.json().catch(() => ({ error: `The viewer answered with status ${response.status}.` }));
  if (!response.ok) throw new Error(value.error || `status ${response.status}`);
  return value;
}

/** Parameters of the address; empty ones are left out of it. */
export const state = () => Object.fromEntries(new URLSearchParams(location.search));
export function address(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value));
  return query.size ? `${path}?${query}` : path;
}

/** News of the server; `on` maps names of events to functions. Returns what ends it. */
export function listen(run, on) {
  const source = new EventSource(run ? `/api/events?run=${encodeURIComponent(run)}` : "/api/events");
  for (const [name, act] of Object.entries(on)) source.addEventListener(name, (event) => act(event.data ? JSON.parse(event.data) : null));
  const live = document.getElementById("live");
  source.onopen = () => { live.textContent = ""; };
  source.onerror = () => { live.textContent = "Not connected; trying again."; };
  return () => { source.close(); live.textContent = ""; };
}

/** `act` once nothing has asked for it for a while. */
export function after(milliseconds, act) {
  let timer = 0;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => act(...given), milliseconds); };
}

/** `act` at most once in a while, and once more at the end. */
export function seldom(milliseconds, act) {
  let last = 0, timer = 0;
  return () => {
    clearTimeout(timer);
    const wait = last + milliseconds - Date.now();
    if (wait <= 0) { last = Date.now(); act(); } else timer = setTimeout(() => { last = Date.now(); act(); }, wait);
  };
}

/** The words of a query, as the server reads them. */
export const terms = (query) => query.match(/-?(?:[a-z_]+(?:[<>]=?|[:=]))?(?:"(?:[^"\\]|\\.)*"?|\S+)/g) || [];

// A field of one line cannot hold line ends, so they are written as escapes.
const ESCAPES = { "\n": "\\n", "\r": "\\r" };
export const quoted = (field, value) => `${field}:${/^[^\s"\\]+$/.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&").replace(/[\n\r]/g, (one) => ESCAPES[one])}"`}`;
