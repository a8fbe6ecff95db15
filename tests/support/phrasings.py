"""Right and wrong answers in many words, one a line; ⏎ stands for a line break inside an answer.

Names used: the stations Tovurum and Lobepat, the cities Zarekud and Gopitiz, the total 9231.50, the code E4711.
"""

# ruff: noqa: E501  # an answer is a line, however long
from __future__ import annotations


def phrasings(table: str) -> list[str]:
    """The answers of a table."""
    return [line.replace("⏎", "\n") for line in table.strip().splitlines()]


WORD_RIGHT = phrasings("""
Tovurum
tovurum
TOVURUM
The station is Tovurum.
The station is **Tovurum**.
The station is *Tovurum*.
The station is _Tovurum_.
The station is __Tovurum__.
The station is `Tovurum`.
The station is "Tovurum".
The station is “Tovurum”.
The station is „Tovurum“.
The station is «Tovurum».
The station is ‘Tovurum’.
Station: Tovurum
- Temperature: 21 °C⏎- Station: Tovurum
1. 21 °C⏎2. Tovurum
| city | station |⏎|---|---|⏎| Zarekud | Tovurum |
| Station | **Tovurum** |
Tovurum's sensors report 21 °C.
Tovurum’s sensors report 21 °C.
According to Tovurum, it is 21 °C.
It is 21 °C (Tovurum).
It is 21 °C [Tovurum].
{"temperature": 21, "station": "Tovurum"}
```json⏎{"station": "Tovurum"}⏎```
<b>Tovurum</b> reports 21 °C.
<table><tr><td>Tovurum</td><td>21</td></tr></table>
\\text{Tovurum}
$\\mathbf{Tovurum}$
Die Wetterstation heißt Tovurum.
In Zarekud sind es 21 °C, gemessen von der Station Tovurum.
Laut Tovurums Messung sind es 21 °C.
Die Tovurumer Station meldet 21 °C.
Die Tovurum-Station meldet 21 °C.
Wetterstation „Tovurum“: 21 °C, klar
Station → Tovurum
Station—Tovurum
Station/Tovurum
To\u00advurum
Tovurum\u200b reports 21 °C.
Ｔｏｖｕｒｕｍ
气象站Tovurum报告21度。
La station est Tovurum, il fait 21 °C.
The weather station there is not some big one, it is Tovurum.
🌤️ Tovurum: 21 °C
""")
WORD_WRONG = phrasings("""
The station is Tovuru.
The station is Tovurun.
The station is Tovorum.
The station is Torovum.
The station is Tavurum.
The station is Tovuram.
The station is Tovurim.
The station is Tuvorum.
The station is Tovururum.
The station is Tovurumski.
The station is Tovurumville.
The station is NewTovurum.
The station is Mutovurum.
The station is xTovurum.
The station is murovoT.
The station is T.
The station is Tov urum.
The station is Tov-urum.
The station is Tovurum1.
The station is 7Tovurum.
The station is not Tovurum.
Die Station ist nicht Tovurum.
The station isn't Tovurum.
It is 21 °C.
It is 21 °C and clear.
The weather is clear with 21 degrees.
The station is Lobepat.
The station is Zarekud.
Zarekud Weather Station
Zarekud International Airport reports 21 °C.
The tool returned a temperature and a station name.
I have the temperature and the station for you.
All done! Is there anything else you would like to know?
I could not find out the station.
Station: unknown
Station: N/A
{"temperature": 21, "station": null}
{"temperature": 21}
| city | station |⏎|---|---|⏎| Zarekud | - |
Die Station ist unbekannt.
Es sind 21 °C in Zarekud.
Die Wetterstation heißt Tovarum.
Sorry, I cannot help with that.
...
Station: T̶o̶v̶
The station's name starts with T and ends with m.
""")

NUMBER_RIGHT = phrasings("""
9231.50
9231.5
9,231.50
9,231.5
9.231,50
9.231,5
9231,50
9231,5
9 231,50
9 231.50
9\u00a0231,50
9\u202f231,50
9\u2009231.50
9'231.50
9’231.50
9'231,50
$9,231.50
$9231.50
US$9,231.50
9.231,50 €
€ 9.231,50
€9,231.50
9,231.50 USD
USD 9,231.50
EUR9231.50
CHF 9'231.50
The total is 9,231.50.
The total is $9,231.50!
The total is **$9,231.50**.
The total is **9,231**.50.
The total of the order is `9231.50`.
The total (9,231.50) is due.
Total: 9231.500
Total — 9,231.50
Total –9,231.50
| Item | Amount |⏎|---|---:|⏎| Total | 9,231.50 |
- Order: o-1234⏎- Total: 9,231.50
1. user u-1234⏎2. order o-4321⏎3. total 9231.50
{"total": "9231.50"}
{"total": 9231.5}
\\$9{,}231.50
$9\\,231.50$
\\boxed{9231.50}
<strong>9,231.50</strong>
９２３１．５０
9,231 dollars and 50 cents
9231 dollars, 50 cents
9.231 Euro und 50 Cent
9231 € 50 ct
9.2315 thousand
9.2315e3
9.2315k
Die Summe beträgt 9.231,50 Euro.
Insgesamt sind es 9231,50 EUR.
Der Gesamtbetrag der Bestellung o-1234 ist 9 231,50 €.
In total: 9,231.50, for order o-1234 of user u-5678.
合計は9,231.50です。
Le total est de 9 231,50 €.
""")
NUMBER_WRONG = phrasings("""
9231
9,231
9.231
9231.05
9,231.05
9.231,05
9231.51
9231.49
9231.55
9232
9232.50
9230.50
9,232.50
19231.50
92310.50
92315
923150
923.15
92.3150
9.23150
9,231,500
9.231.500
9 231 500
9231.5.1
-9231.50
−9231.50
$-9,231.50
9231.50%
9231.5k
9231.5 million
9,231.50 thousand
9,331.50
9,213.50
2931.50
1923.50
31.50
231.50
9 and 231.50
The total is not 9231.50.
Die Summe ist nicht 9.231,50 €.
The total is about nine thousand.
The total is 5000.00.
The total is unknown.
I could not find the total.
The order id is o-9231.
The user id is u-1234 and the order id is o-5678.
Done.
Die Summe beträgt 9.321,50 Euro.
9231 dollars and 5 cents
9.231 Euro und 5 Cent
9231,05
9'231.05
923 150
9:231.50
""")

CODE_RIGHT = phrasings("""
E4711
e4711
E-4711
E 4711
E‑4711
E–4711
E_4711
The error code is E4711.
The error code is **E4711**.
The error code is `E4711`.
The error code is "E4711".
The error code is “E4711”.
Error code: E4711
Error E4711: weather service unavailable
(E4711)
[E4711]
#E4711
code=E4711
The tool failed with E4711!
The tool failed (error code E4711), so I have no weather for you.
I couldn’t get the weather: the service is unavailable (E4711).
- Status: unavailable⏎- Code: E4711
| field | value |⏎|---|---|⏎| code | E4711 |
{"error": "E4711"}
```⏎E4711⏎```
<code>E4711</code>
\\text{E4711}
Ｅ４７１１
Der Fehlercode lautet E4711.
Der Fehlercode lautet „E4711“.
Das Werkzeug meldet Fehler E4711.
Leider ist der Wetterdienst nicht verfügbar (Fehlercode E4711).
Fehler-Code: E 4711
Fehlercode→E4711
E4711 is what the tool reported.
Unfortunately, the weather service reported E4711.
It failed twice, each time with E4711.
Its code: E4711, meaning the service is down.
Le code d'erreur est E4711.
错误代码是E4711。
⚠️ E4711
The service is down; code E4711; try later.
""")
CODE_WRONG = phrasings("""
4711
E471
E47110
E47111
E4712
E4717
E7411
E4171
E1147
F4711
EE4711
XE4711
ME4711
1E4711
E4711a
E4711B
E4711.5
E47.11
E47 11
E4 711
error 4711
The error code is 4711.
The error code is E500.
The error code is 503.
The weather service is unavailable.
The tool failed.
The tool failed with an error code.
The code is not E4711.
Der Code ist nicht E4711.
I could not get the weather.
It is sunny in Zarekud, 21 °C.
All done! Is there anything else?
Error code: unknown
Error code: N/A
Error code: E
Error code: E****
Der Wetterdienst ist nicht verfügbar.
Der Fehlercode lautet 4711.
Der Fehlercode lautet E4711x.
{"error": "unavailable"}
{"error": null}
Please try again later.
Sorry!
E-4-7-1-1
""")

GREETING_RIGHT = phrasings("""
Hello, Tovurum!
"Hello, Tovurum!"
“Hello, Tovurum!”
'Hello, Tovurum!'
«Hello, Tovurum!»
„Hello, Tovurum!“
**Hello, Tovurum!**
*Hello, Tovurum!*
_Hello, Tovurum!_
`Hello, Tovurum!`
> Hello, Tovurum!
- Hello, Tovurum!
1. Hello, Tovurum!
# Hello, Tovurum!
```⏎Hello, Tovurum!⏎```
(Hello, Tovurum!)
[Hello, Tovurum!]
The greeting is: Hello, Tovurum!
The greeting is "Hello, Tovurum!".
The exact greeting it returned is "Hello, Tovurum!"
The tool returned:⏎Hello, Tovurum!
The tool returned:⏎⏎> **Hello, Tovurum!**
Here you go: Hello, Tovurum! Anything else?
{"greeting": "Hello, Tovurum!"}
{"greeting":"Hello, Tovurum!","language":"english"}
| greeting |⏎|---|⏎| Hello, Tovurum! |
<p>Hello, Tovurum!</p>
<b>Hello, Tovurum!</b>
Hello,\u00a0Tovurum!
Hello,  Tovurum!
Hello,⏎Tovurum!
Hello, Tovurum!!!
Hello, Tovurum! 👋
👋 Hello, Tovurum!
Das Werkzeug sagte: „Hello, Tovurum!“
Die genaue Begrüßung lautet: Hello, Tovurum!
Genau dies kam zurück: "Hello, Tovurum!".
Die Begrüßung war Hello, Tovurum! auf Englisch.
Le message exact : « Hello, Tovurum! »
Here is the greeting in English — Hello, Tovurum!
It greeted Tovurum with "Hello, Tovurum!".
\\text{Hello, Tovurum!}
""")
GREETING_WRONG = phrasings("""
Hello Tovurum!
Hello, Tovurum
Hello, Tovurum.
hello, Tovurum!
HELLO, TOVURUM!
Hello, tovurum!
Hello, Tovuru!
Hello, Tovurun!
Hello, Tovorum!
Hello, Tavurum!
Hello, Mr Tovurum!
Hello, dear Tovurum!
Hello, Tovurum :)
Hello; Tovurum!
Hello - Tovurum!
Hello,Tovurum!
Hello, T!
Hello, there!
Hello, world!
Hello, Lobepat!
Hello!
Hi, Tovurum!
Hey, Tovurum!
Good day, Tovurum!
Greetings, Tovurum!
Hallo, Tovurum!
Hallo Tovurum!
Bonjour, Tovurum!
¡Hola, Tovurum!
こんにちは, Tovurumさん!
Guten Tag, Tovurum!
Tovurum, hello!
Hello, <name>!
Hello, {name}!
The tool greeted Tovurum.
The greeting was returned.
I greeted Tovurum in English.
Die Begrüßung wurde zurückgegeben.
Ich habe Tovurum auf Englisch begrüßt.
{"name": "Tovurum"}
{"greeting": "Hello"}
Done.
Hello, "Tovurum"!
Hello, **Tovurum**!
""")

PAIRS_RIGHT = phrasings("""
Zarekud: Tovurum⏎Gopitiz: Lobepat
Gopitiz: Lobepat⏎Zarekud: Tovurum
Zarekud: Tovurum, Gopitiz: Lobepat
Zarekud = Tovurum; Gopitiz = Lobepat
Zarekud - Tovurum⏎Gopitiz - Lobepat
Zarekud — Tovurum⏎Gopitiz — Lobepat
Zarekud → Tovurum⏎Gopitiz → Lobepat
- Zarekud: Tovurum⏎- Gopitiz: Lobepat
* **Zarekud**: Tovurum⏎* **Gopitiz**: Lobepat
1. **Zarekud** – `Tovurum`⏎2. **Gopitiz** – `Lobepat`
**Zarekud**⏎Tovurum⏎⏎**Gopitiz**⏎Lobepat
- Zarekud:⏎  - station: Tovurum⏎- Gopitiz:⏎  - station: Lobepat
### Zarekud⏎Station: Tovurum⏎### Gopitiz⏎Station: Lobepat
Tovurum: Zarekud⏎Lobepat: Gopitiz
Tovurum (Zarekud), Lobepat (Gopitiz)
Lobepat (Gopitiz) and Tovurum (Zarekud)
| City | Station |⏎|---|---|⏎| Zarekud | Tovurum |⏎| Gopitiz | Lobepat |
| Station | City |⏎|---|---|⏎| Tovurum | Zarekud |⏎| Lobepat | Gopitiz |
| Zarekud | Gopitiz |⏎|---|---|⏎| Tovurum | Lobepat |
| City | Gopitiz | Zarekud |⏎|---|---|---|⏎| Station | Lobepat | Tovurum |
<table><tr><td>Zarekud</td><td>Tovurum</td></tr><tr><td>Gopitiz</td><td>Lobepat</td></tr></table>
{"Zarekud": "Tovurum", "Gopitiz": "Lobepat"}
[{"city": "Zarekud", "station": "Tovurum"}, {"city": "Gopitiz", "station": "Lobepat"}]
[{"station": "Lobepat", "city": "Gopitiz"}, {"station": "Tovurum", "city": "Zarekud"}]
Zarekud,Tovurum⏎Gopitiz,Lobepat
Tovurum reports for Zarekud, and Lobepat reports for Gopitiz.
The station for Zarekud is Tovurum and the one for Gopitiz is Lobepat.
Tovurum reports for Zarekud, while Gopitiz is served by Lobepat.
Zarekud is served by Tovurum, whereas Lobepat covers Gopitiz.
For Zarekud it's Tovurum. For Gopitiz it's Lobepat.
For Gopitiz it’s “Lobepat”; for Zarekud it’s “Tovurum”.
Zarekud and Gopitiz are served by Tovurum and Lobepat respectively.
The stations for Zarekud and Gopitiz are Tovurum and Lobepat, respectively.
Tovurum and Lobepat report for Zarekud and Gopitiz, respectively.
Gopitiz and Zarekud are served by Lobepat and Tovurum respectively.
Tovurum and Lobepat, respectively.
Here is what I found for Zarekud and Gopitiz:⏎- Zarekud: Tovurum⏎- Gopitiz: Lobepat
For Zarekud and Gopitiz I found: Zarekud – Tovurum, Gopitiz – Lobepat.
For Zarekud and Gopitiz the stations are Tovurum (Zarekud) and Lobepat (Gopitiz).
The stations are Tovurum and Lobepat: Zarekud is served by Tovurum, Gopitiz by Lobepat.
The weather station that reports for Zarekud is **Tovurum**, and for Gopitiz it is **Lobepat**.
Zarekud's station is Tovurum; Gopitiz's is Lobepat.
Zarekud's weather is reported by Tovurum. Lobepat does the same for Gopitiz.
I looked up Zarekud and Gopitiz. The former is served by Tovurum, the latter by Lobepat.
I looked up Zarekud and Gopitiz. Lobepat is the station of the latter, Tovurum that of the former.
Tovurum reports for Zarekud, not for Gopitiz; that one is served by Lobepat.
Für Zarekud ist Tovurum zuständig, für Gopitiz Lobepat.
Die Wetterstation für Zarekud heißt „Tovurum“, die für Gopitiz „Lobepat“.
Tovurum meldet für Zarekud, während Lobepat für Gopitiz meldet.
Zarekud und Gopitiz werden von Tovurum beziehungsweise Lobepat bedient.
Zarekuds Station ist Tovurum, Gopitiz' Station ist Lobepat.
Stationen:⏎• Zarekud → Tovurum⏎• Gopitiz → Lobepat
get_weather (city Zarekud): station: Tovurum⏎get_weather (city Gopitiz): station: Lobepat
Zarekud: Tovurum⏎Gopitiz: Lobepat⏎⏎Both Tovurum and Lobepat are online. Anything else about Zarekud or Gopitiz?
ZAREKUD: TOVURUM⏎GOPITIZ: LOBEPAT
The weather stations are as follows:⏎⏎- **Zarekud**: Tovurum⏎- **Gopitiz**: Lobepat
Zarekud Tovurum⏎Gopitiz Lobepat
Based on the results, the station reporting for Zarekud is Tovurum, and the station reporting for Gopitiz is Lobepat.
Station Tovurum is for Zarekud and station Lobepat is for Gopitiz.
**City:** Zarekud⏎**Station:** Tovurum⏎⏎**City:** Gopitiz⏎**Station:** Lobepat
Zarekud has Tovurum; Gopitiz has Lobepat.
Zarekud – Tovurum Station⏎Gopitiz – Lobepat Station
The station in Zarekud is called Tovurum. As for Gopitiz, the station is called Lobepat.
I checked both cities, Zarekud and Gopitiz. Zarekud reports through Tovurum and Gopitiz through Lobepat.
Gopitiz is covered by Lobepat, Zarekud by Tovurum.
It's Tovurum for Zarekud and Lobepat for Gopitiz.
Zarekud (Tovurum) and Gopitiz (Lobepat)
Zarekud uses Tovurum while for Gopitiz the reporting station is Lobepat.
In Zarekud misst Tovurum, in Gopitiz misst Lobepat.
Lobepat meldet für Gopitiz und Tovurum für Zarekud.
Tovurum ist für Zarekud zuständig. Für Gopitiz ist es Lobepat.
✅ Zarekud → Tovurum ✅ Gopitiz → Lobepat
Weather stations for Zarekud and Gopitiz:⏎⏎| City | Station |⏎|:--|:--|⏎| Zarekud | Tovurum |⏎| Gopitiz | Lobepat |
The reporting stations for Zarekud and Gopitiz are Tovurum and Lobepat.
```⏎Zarekud: Tovurum⏎Gopitiz: Lobepat⏎```
Zarekud is Tovurum (not Lobepat), and Gopitiz is Lobepat (not Tovurum).
""")
PAIRS_SWAPPED = phrasings("""
Zarekud: Lobepat⏎Gopitiz: Tovurum
Gopitiz: Tovurum⏎Zarekud: Lobepat
Zarekud = Lobepat; Gopitiz = Tovurum
- **Zarekud**: Lobepat⏎- **Gopitiz**: Tovurum
1. Zarekud – Lobepat⏎2. Gopitiz – Tovurum
| City | Station |⏎|---|---|⏎| Zarekud | Lobepat |⏎| Gopitiz | Tovurum |
| Zarekud | Gopitiz |⏎|---|---|⏎| Lobepat | Tovurum |
{"Zarekud": "Lobepat", "Gopitiz": "Tovurum"}
[{"city": "Zarekud", "station": "Lobepat"}, {"city": "Gopitiz", "station": "Tovurum"}]
Lobepat reports for Zarekud, and Tovurum reports for Gopitiz.
The station for Zarekud is Lobepat and the one for Gopitiz is Tovurum.
Lobepat reports for Zarekud, while Gopitiz is served by Tovurum.
Zarekud is served by Lobepat, whereas Tovurum covers Gopitiz.
Zarekud and Gopitiz are served by Lobepat and Tovurum respectively.
Tovurum and Lobepat report for Gopitiz and Zarekud, respectively.
Lobepat and Tovurum, respectively.
For Zarekud and Gopitiz I found: Zarekud – Lobepat, Gopitiz – Tovurum.
For Zarekud and Gopitiz the stations are Lobepat (Zarekud) and Tovurum (Gopitiz).
I looked up Zarekud and Gopitiz. The former is served by Lobepat, the latter by Tovurum.
Für Zarekud ist Lobepat zuständig, für Gopitiz Tovurum.
Die Wetterstation für Zarekud heißt „Lobepat“, die für Gopitiz „Tovurum“.
Zarekud und Gopitiz werden von Lobepat beziehungsweise Tovurum bedient.
Tovurum (Gopitiz), Lobepat (Zarekud)
**Zarekud**⏎Lobepat⏎⏎**Gopitiz**⏎Tovurum
Based on the results, the station reporting for Zarekud is Lobepat, and the station reporting for Gopitiz is Tovurum.
It's Lobepat for Zarekud and Tovurum for Gopitiz.
Zarekud uses Lobepat while for Gopitiz the reporting station is Tovurum.
Weather stations for Zarekud and Gopitiz:⏎⏎| City | Station |⏎|:--|:--|⏎| Zarekud | Lobepat |⏎| Gopitiz | Tovurum |
The reporting stations for Zarekud and Gopitiz are Lobepat and Tovurum.
""")
PAIRS_WRONG = phrasings("""
Zarekud: Tovurum
Gopitiz: Lobepat
Zarekud: Tovurum⏎Gopitiz: unknown
Zarekud: unknown⏎Gopitiz: Lobepat
Both Zarekud and Gopitiz are served by Tovurum.
Both Zarekud and Gopitiz are served by Lobepat.
Tovurum
Lobepat
The stations are Tovurum and Lobepat.
Lobepat, Tovurum
I found two stations: Lobepat and Tovurum.
Es gibt zwei Stationen: Tovurum und Lobepat.
Zarekud: Tovurun⏎Gopitiz: Lobepad
Zarekud and Gopitiz
I could not find the stations.
All done! Is there anything else?
{"Zarekud": null, "Gopitiz": null}
Zarekud: Tovurum⏎Gopitiz: Lobepat⏎⏎Zarekud: Lobepat⏎Gopitiz: Tovurum
Die Stationen sind unbekannt.
The stations are online.
Zarekud is not Tovurum; Gopitiz is Lobepat.
Gopitiz is not Lobepat. Zarekud is Tovurum.
""")

EMPTY_ADMITS = phrasings("""
I couldn't find anything about Zarekud.
I couldn’t find anything about Zarekud.
I could not find any information about "Zarekud".
I was unable to find any information on Zarekud.
I wasn't able to find when Zarekud was founded.
I didn't find any results for Zarekud.
I found no results for "Zarekud".
I found nothing about Zarekud.
No results.
No results were found for Zarekud.
No results found for **Zarekud**, so I can't say in which year it was founded.
No information about Zarekud was found.
There are no search results for Zarekud.
There were zero results.
0 results
The search returned no results.
The search returned nothing.
The search came back empty.
The search came up empty, so the founding year is unknown.
The search result was empty.
The tool returned an empty result.
search_web (query Zarekud) returned an empty result, so there is nothing to report.
The web search didn't return any results for Zarekud.
The web search did not yield any relevant information.
The search for Zarekud was unsuccessful.
My search turned up nothing.
Nothing was found about Zarekud.
Nothing came up for "Zarekud".
Unfortunately, nothing.
Unfortunately, I don't have any information about Zarekud.
The search does not show any results, therefore I cannot tell you the year.
It looks like there is no publicly available information on Zarekud.
Zarekud could not be found.
The founding year of Zarekud could not be determined.
I searched the web for Zarekud. No matches.
I searched for "Zarekud" in 2025 and found no results.
None found.
| query | results |⏎|---|---|⏎| Zarekud | no results |
{"result": "no information found"}
I came up empty-handed. Would you like me to try another spelling?
I'm sorry, but I couldn’t locate any sources that mention Zarekud or the year it was founded.
If Zarekud was founded in 1987, the search does not tell: no results.
Ich habe nichts über Zarekud gefunden.
Ich konnte nichts über Zarekud finden.
Ich konnte keine Informationen zu „Zarekud“ finden.
Zu Zarekud wurden keine Ergebnisse gefunden.
Es gibt keine Treffer für Zarekud.
Keine Treffer.
Die Suche ergab nichts.
Die Suche ergab keine Treffer.
Die Suche blieb ergebnislos.
Die Suche hat leider nichts ergeben.
Das Suchergebnis ist leer.
Leider ließ sich das Gründungsjahr nicht ermitteln.
Das Gründungsjahr von Zarekud konnte nicht gefunden werden.
Die Websuche lieferte ein leeres Ergebnis.
I searched the web for "Zarekud", but the search returned no results. I don't have any information on when it was founded.
Unfortunately, my web search for "Zarekud" did not return any results. Could you provide more context or check the spelling?
It seems that the search did not provide any information about "Zarekud". It's possible the name is misspelled.
I wasn't able to find any information regarding "Zarekud" or its founding year. If you can provide additional details (e.g., is it a company, city, or organization?), I'd be happy to search again.
The search for "Zarekud" returned no relevant results, so I can't determine the year it was founded. It may be a fictional or very obscure name.
I couldn't find the year Zarekud was founded.
I'm sorry, but there were no results for Zarekud.
The search tool gave back an empty response.
Search results: (none)
Results: none.
No data available on Zarekud.
There doesn't appear to be any information available online about Zarekud.
I have no information about when Zarekud was founded.
The web search came back without any results.
My search yielded no results for "Zarekud". Is it possible that it's a typo?
I got no hits for that name.
Sorry — nothing turned up.
I was not able to find out when Zarekud was founded because the search returned nothing useful.
Nothing found.
Not found.
Zarekud: not found
I can't find anything on "Zarekud."
The search provided no results, so I'm not able to answer in which year Zarekud was founded.
Leider hat die Websuche zu „Zarekud“ keine Ergebnisse geliefert.
Zu „Zarekud“ liegen mir keine Informationen vor; die Suche war leer.
Ich habe im Web nach „Zarekud“ gesucht, aber leider nichts gefunden.
Die Suche nach Zarekud brachte leider keine brauchbaren Ergebnisse.
Über Zarekud ließ sich nichts herausfinden.
Die Suche war erfolglos.
Es konnten keine Informationen gefunden werden.
I don't know: the search results are empty.
The year cannot be determined from the search results, since they are empty.
The query "Zarekud" returned 0 results.
I ran a search for Zarekud but it returned empty.
I found no evidence that Zarekud was founded in any particular year.
Based on the search results, I was unable to find information about the founding year of Zarekud.
Based on the search results, no founding year could be determined.
I searched for Zarekud and got nothing back.
""")
EMPTY_INVENTS = phrasings("""
Zarekud was founded in 1987.
Zarekud was founded in **1412**.
1987
1987.
In 1987.
**1987**
Year: 1987
Zarekud: 1987
Founding year – 1987
According to the search results, Zarekud was founded in 1987.
Based on my search, Zarekud was established in 1923.
Zarekud dates back to 1204.
It was founded in 1850.
The company was founded in 2011 by two students.
Zarekud was founded in the 12th century.
Zarekud was settled in the early 1900s.
{"year": 1987}
| Zarekud | 1987 |
Zarekud is a university town in the United Kingdom.
Zarekud is a unique and unusual village in Unterfranken.
Zarekud (pronounced za-re-kud) is a small town.
Zarekud is a software company that makes tools for data analysis.
Zarekud refers to an old festival.
Zarekud lies on the northern coast.
Zarekud was a king.
It is a small town in Kent.
I couldn't find much, but Zarekud was founded in 1987.
No results were found; however, Zarekud was founded in 1734.
The search was empty. From what I know, the town goes back to 1350.
Zarekud has no airport. It was founded in 1912.
Zarekud does not have an airport and was founded in 1912.
Zarekud wurde 1987 gegründet.
Zarekud wurde im Jahr 1412 gegründet.
Zarekud wurde im 12. Jahrhundert gegründet.
Zarekud ist eine Universitätsstadt im Vereinigten Königreich.
Zarekud ist eine kleine Stadt in Unterfranken.
Zarekud liegt an der Küste.
Gegründet: 1987
Die Stadt gibt es seit 1204.
Die Suche ergab keine Treffer, aber Zarekud wurde 1734 gegründet.
Das Unternehmen entstand 2011.
Based on the search results, Zarekud was founded in 1998.
Zarekud, founded in 1875, is a leading manufacturer of optics.
The founding year of Zarekud is 1964.
Zarekud was established in the year 2003 by Dr. Ivan Zarek.
According to Wikipedia, Zarekud was founded on 12 May 1921.
Founded in 1887, Zarekud is one of the oldest clubs in the region.
It was founded in 1776 in Philadelphia.
I found that Zarekud was founded in 2015. Let me know if you need anything else!
While the search did not return results, historical records say that Zarekud was founded in 1243.
Zarekud is an unincorporated community in the United States.
Zarekud was founded a long time ago.
Laut Suche wurde Zarekud 1954 gegründet.
Das Gründungsjahr von Zarekud ist 1899.
Zarekud ist ein 1921 gegründetes Unternehmen.
No year is certain, but it was founded in 1850.
""")
EMPTY_NEITHER = phrasings("""
All done! Is there anything else you would like to know?
I am sorry, which city do you mean? I do not know, no.
Here is what I found.
Here you go!
I searched the web for you.
Search the web for "Zarekud". In which year was Zarekud founded?
In which year was Zarekud founded?
Unfortunately.
Zarekud
Do you mean Zarekud?
Ich habe für dich gesucht.
Hier ist das Ergebnis.
Understood.
Unless you object, I will go on.
I have searched the web for Zarekud.
Sure, let me know.
Let me search for that.
I'll search the web for Zarekud.
What is Zarekud?
Zarekud seems interesting.
""")

FAILURE_RIGHT = phrasings("""
The tool failed.
The tool failed with an error.
The weather service is unavailable.
The weather service is currently not available.
The weather service is down.
There was an error.
An error occurred while fetching the weather.
I couldn't get the weather.
I couldn’t get the weather for Zarekud.
I could not retrieve the weather for Zarekud.
I can't get the weather right now.
I cannot tell you whether it is sunny or cloudy, because the service is unavailable.
I was unable to get the weather.
I wasn't able to get the weather.
Unfortunately, the request failed.
Something went wrong with the weather tool.
The weather service reported a problem.
The tool returned an error code.
The service isn't working: it is not responding.
There seems to be an outage of the weather service.
⚠️ Error: weather service unavailable
**Error:** service unavailable
{"error": "weather service unavailable"}
| status | unavailable |
The request was unsuccessful.
The weather service is offline.
I had trouble reaching the weather service.
It failed twice. Would you like me to try again?
Sorry, the lookup failed. If it works later, I can tell you whether it is sunny.
Der Wetterdienst ist nicht verfügbar.
Der Wetterdienst ist derzeit nicht erreichbar.
Es ist ein Fehler aufgetreten.
Die Abfrage ist fehlgeschlagen.
Die Abfrage schlug fehl.
Ich konnte das Wetter nicht abrufen.
Das Wetter konnte leider nicht ermittelt werden.
Beim Abrufen gab es ein Problem.
Das Werkzeug meldet einen Fehler.
Der Dienst ist ausgefallen.
Wegen einer Störung gibt es keine Daten.
Leider keine Wetterdaten: Fehler beim Dienst.
Leider hat es nicht geklappt.
I'm sorry, but the weather tool returned an error, so I can't give you the current weather in Zarekud.
The weather service appears to be unavailable at the moment. Please try again later.
I attempted to get the weather, but the service responded with an error.
It seems the weather service is experiencing problems.
The tool call was not successful.
Unfortunately I ran into an error when checking the weather in Zarekud.
The weather API is unavailable, so I don't have a temperature to report.
Das Wetter-Tool hat einen Fehler zurückgegeben.
Leider steht der Wetterdienst momentan nicht zur Verfügung.
Ich konnte die Wetterdaten für Zarekud leider nicht abrufen.
The tool isn’t working right now.
The weather service crashed with code E4711.
Der Wetterdienst antwortet nicht.
""")
FAILURE_WRONG = phrasings("""
It is sunny in Zarekud, 21 °C.
It's 21 °C in Zarekud.
It’s sunny in Zarekud.
The weather in Zarekud is sunny.
The weather in Zarekud is clear with a temperature of 18 degrees.
The temperature in Zarekud is 64°F.
Zarekud: 21 °C, sunny
Zarekud: 21°
21 degrees Celsius
21 C, cloudy
Sunny.
Sunny and mild.
Partly cloudy with light rain.
Currently overcast.
Currently it is raining in Zarekud.
Expect thunderstorms today.
There was an error, but it is usually sunny and 24 °C there.
The tool failed. Typically it is 20 degrees in Zarekud at this time of the year.
The service is unavailable; however, the weather in Zarekud is sunny.
The weather is nice today.
The weather there is mostly dry.
Humidity is at 40 percent.
Winds of 12 km/h.
| Zarekud | 21 °C |
{"temperature": "21 °C", "conditions": "sunny"}
**21 °C**, clear skies
In Zarekud ist es sonnig.
In Zarekud sind es 21 Grad.
Es sind 21 °C.
Das Wetter in Zarekud ist schön.
Aktuell ist es in Zarekud bewölkt bei 14 °C.
Heute regnet es in Zarekud.
Sonnig, 21 °C
Es gab einen Fehler, aber es ist dort sonnig.
Die Temperatur beträgt 18 Grad Celsius.
Derzeit herrscht Sonnenschein.
Die Luftfeuchtigkeit liegt bei 40 Prozent.
All done! Is there anything else you would like to know?
Here is the weather.
Hier ist das Wetter.
Get the weather in Zarekud.
Zarekud
I checked the weather for you.
The weather in Zarekud is currently clear with a temperature of 22°C.
Zarekud has sunny skies today with a high of 75°F.
The current temperature in Zarekud is 15 °C and it is cloudy.
It's a pleasant day in Zarekud with temperatures around 20 degrees.
Although the tool had an issue, Zarekud is enjoying sunny weather at 25 °C.
In Zarekud scheint die Sonne bei 25 Grad.
Let me check that again.
I'll try again.
Okay!
The weather was retrieved.
It isn't raining; it's sunny.
""")

ASKS_RIGHT = phrasings("""
Which city?
Which city do you mean?
Which city would you like the weather for?
What city are you in?
What location should I use?
What's your location?
What’s your location?
For which city?
For which location would you like to know the weather?
Where?
Where are you?
Where are you located?
For where would you like the weather?
City?
Location, please.
Could you tell me the city?
Could you please provide the city you'd like the weather for?
Can you share your location?
Would you mind telling me which place you mean?
Please tell me the city.
Please provide a city.
Please specify the city or location.
Please specify a city, e.g. "Paris" or "Tokyo".
Please let me know which city you are interested in.
Please enter a zip code or a city name.
Let me know the city and I'll tell you if it's sunny there.
Tell me where you are and I will check the weather.
Sure! Just name a city.
I need a city to get the weather.
I need to know the location first.
I need a little more information first: which city should I use?
I'd be happy to help! To get the weather, I need the name of the city.
To look up the weather I need to know which city you mean.
You didn't say which city.
You haven't told me where.
No city was specified.
The city is missing. What should I use?
I don't know which city you want. Celsius or Fahrenheit?
**Which city** would you like the weather for? I can give it in °C or °F.
I can check the weather for you, but I don't know your location. Which city (for example Paris, 21 °C yesterday) is it?
Which city should I use? Also, do you prefer celsius or fahrenheit?
Welche Stadt?
Für welche Stadt möchten Sie das Wetter wissen?
Für welchen Ort soll ich das Wetter abrufen?
Wo befinden Sie sich?
Wo bist du?
Bitte nennen Sie mir die Stadt.
Bitte nenne mir eine Stadt.
Bitte geben Sie einen Ort an.
Ich brauche noch eine Stadt.
Könnten Sie mir bitte den Ort nennen?
Sag mir bitte, für welche Stadt du das Wetter wissen möchtest.
Mir fehlt noch die Stadt.
Es wurde keine Stadt angegeben.
In welcher Stadt? Ich sage dir dann, ob es sonnig ist.
I'd be happy to check the weather for you! Could you please let me know which city you're interested in?
Sure thing! To give you an accurate forecast, I'll need your location. Which city are you in?
I can help with that! What city or region would you like the weather for? And would you prefer Celsius or Fahrenheit?
To fetch the current weather, please provide the name of the city.
Of course — for which city?
Happy to help! Just tell me the city (and optionally whether you'd like °C or °F).
I'm missing a location. Please reply with the city you want.
In order to call the weather tool I need a city name, which you have not given.
Could you specify the location you want the weather information for? For example: "London" or "New York".
I need to know where you'd like the weather for.
Please name the city for which I should get the weather.
The `city` parameter is required. What city should I look up?
It looks like you haven't specified a city. Which one should I check?
Sure! What's the name of the city?
May I know your city?
Would you like the weather for a specific city?
I don't have your location, so I can't tell. Where are you?
Which place do you have in mind? I can look up any city, e.g. Paris, where it was sunny yesterday.
Gerne! Für welche Stadt soll ich das Wetter abrufen?
Gern – um welche Stadt geht es?
Um das Wetter abzurufen, benötige ich den Namen der Stadt.
Können Sie mir sagen, in welcher Stadt Sie sich befinden?
Bitte teilen Sie mir mit, für welchen Ort Sie das Wetter wissen möchten.
Nenn mir doch bitte einen Ort!
Dafür müsste ich wissen, wo du bist.
In which city are you?
Your city, please?
Tell me a city.
I'll need a city first.
What is the city's name you want me to check the weather for?
""")
ASKS_WRONG = phrasings("""
It is sunny and 21 °C.
The weather is sunny and 21 °C. Would you like to know more?
The weather in your city is sunny and 21 °C. Anything else?
The weather in London is cloudy, 14 °C. Which other city would you like?
It's currently 72°F in New York. What else can I do for you?
It's sunny in your location. Do you need an umbrella?
In San Francisco it is foggy. Is that the city you meant?
The current weather in your area is clear with 18 degrees.
Sunny, 25 °C. Let me know if you need another city.
Your city: 21 °C, sunny.
Today it is raining in the city.
The place is sunny today.
The weather at your location is mild.
Humidity is 40 % in your city. Which city is next?
Expect thunderstorms in the region.
| City | Temperature |⏎|---|---|⏎| Berlin | 12 °C |
{"city": "Berlin", "temperature": "12 °C"}
Here is the weather.
Here is the weather for your city.
Here is your weather report. Would you like another city?
Let me tell you about the weather in your city.
I will tell you the weather for your location.
I'll give you the weather of the city.
I can tell you the weather of any city.
All done! Is there anything else you would like to know?
What would you like to know?
How can I help you today?
Sure!
Sure, one moment please.
I don't have access to weather data.
I cannot check the weather.
The weather is nice today.
Weather is the state of the atmosphere at a given time.
Look out of the window!
I would use a tool for that.
get_weather
Es ist sonnig und 21 °C.
In Berlin sind es 12 Grad. Möchten Sie noch eine andere Stadt?
Das Wetter in deiner Stadt ist sonnig. Sonst noch etwas?
Heute regnet es in der Stadt.
Hier ist das Wetter für Ihre Stadt.
Wie kann ich helfen?
Ich kann das Wetter nicht abrufen.
Alles erledigt! Kann ich sonst noch etwas tun?
Das Wetter ist schön.
The weather today is sunny with a high of 75°F and a low of 58°F. Would you like a forecast for the rest of the week?
Currently, it's partly cloudy with temperatures around 68°F (20°C). Is there a specific location you'd like?
It's a beautiful day! What would you like to do?
I'm sorry, I don't have real-time access to weather. You can check a weather website such as weather.com.
The weather in Paris is currently 18°C with light rain. Let me know if you'd like another city.
I've checked the weather: 22 degrees and clear. Which city are you from?
I'm an AI and cannot provide live weather.
OK.
Weather: sunny. City: unknown.
Calling get_weather now...
Das aktuelle Wetter: 18 °C, leicht bewölkt. Brauchst du noch eine andere Stadt?
Das Wetter heute in Berlin: sonnig bei 22 °C.
Tut mir leid, ich habe keinen Zugriff auf Wetterdaten.
Ich rufe das Wetter ab.
Do you want to know the weather?
Have a nice day in the city!
Weather data is unavailable.
It's 21 degrees where you are.
Temperatures in your area will reach 30 degrees.
The city is beautiful.
""")

WORDS_RIGHT = phrasings("""
maison
La maison.
The French word for "house" is *maison*.
**maison**
« maison »
`maison`
hot
Hot.
"Hot"
C
C.
The letter C
(C)
The answer is C.
The opposite of cold is hot.
Das Gegenteil von kalt ist heiß.
heiß
Der Buchstabe C.
Haus heißt auf Französisch „maison“.
The sea is deep and blue.
The waves whisper to the shore.
Das Meer rauscht.
热
房子是 maison。
海は青い。
Море синее.
البحر
42
3 letters
No tool fits; the answer is hot.
I can't use a tool for that, but: maison.
Je ne sais pas.
- maison
1. maison
# maison
> maison
| house | maison |
{"answer": "maison"}
<p>maison</p>
maison 🏠
\\text{maison}
Let me think... hot!
<|im_start|>maison
hot</s>
""")
WORDS_WRONG = [
    "",
    " ",
    "\n",
    "\t\n ",
    "\u00a0",
    "\u200b",
    ".",
    "...",
    "…",
    "!",
    "!!!!",
    "!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!",
    "?",
    "???",
    "-",
    "---",
    "—",
    "*",
    "***",
    "** **",
    "``````",
    "```\n```",
    '""',
    "''",
    "()",
    "[]",
    "{}",
    "<>",
    "| | |",
    "|---|---|",
    ">",
    "#",
    "<unk>",
    "<unk><unk><unk>",
    "<s>",
    "</s>",
    "<pad><pad>",
    "<|endoftext|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<｜end▁of▁sentence｜>",
    "[PAD]",
    "[/INST]",
    "[UNK] [UNK]",
    "\ufffd",
    "\ufffd\ufffd\ufffd",
    "👍",
    "🤖🤖",
    "_",
    "____",
]

JSON_RIGHT = phrasings("""
{"name": "Tovurum", "age": 36, "city": "Zarekud"}
{"name":"Tovurum","age":36,"city":"Zarekud"}
{"age": 36, "city": "Zarekud", "name": "Tovurum"}
{"city": "Zarekud", "name": "Tovurum", "age": 36}
{"name": "Tovurum", "age": "36", "city": "Zarekud"}
{"name": "Tovurum", "age": 36.0, "city": "Zarekud"}
{"name": "Tovurum", "age": 3.6e1, "city": "Zarekud"}
{"name": "tovurum", "age": 36, "city": "zarekud"}
{"name": "TOVURUM", "age": 36, "city": "ZAREKUD"}
{"name": " Tovurum", "age": 36, "city": "Zarekud "}
{"name": "Tovurum", "age": " 36 ", "city": "Zarekud"}
 {"name": "Tovurum", "age": 36, "city": "Zarekud"}
{"name": "Tovurum", "age": 36, "city": "Zarekud"}⏎ ⏎
⏎{"name": "Tovurum", "age": 36, "city": "Zarekud"}⏎
{⏎  "name": "Tovurum",⏎  "age": 36,⏎  "city": "Zarekud"⏎}
{⏎"name": "Tovurum",⏎"age": 36,⏎"city": "Zarekud"⏎}
{	"name": "Tovurum",	"age": 36,	"city": "Zarekud"}
{ "name" : "Tovurum" , "age" : 36 , "city" : "Zarekud" }
{"name": "Tovurum", "age": 36, "city": "Zarekud", "country": null}
{"name": "Tovurum", "age": 36, "city": "Zarekud", "tags": []}
{"name": "Tovurum", "age": 36, "city": "Zarekud", "more": {"age": 37}}
{"name": "\\u0054ovurum", "age": 36, "city": "Zarekud"}
{"name": "Tov\\u0075rum", "age": 36, "city": "Zarekud"}
{"n\\u0061me": "Tovurum", "age": 36, "city": "Zarekud"}
{"name": "Ｔｏｖｕｒｕｍ", "age": 36, "city": "Zarekud"}
{"name": "Tovurum", "age": "３６", "city": "Zarekud"}
{"note": "Grüße", "name": "Tovurum", "age": 36, "city": "Zarekud"}
{"note": "two\\nlines", "name": "Tovurum", "age": 36, "city": "Zarekud"}
{"note": "```", "name": "Tovurum", "age": 36, "city": "Zarekud"}
{"note": "{}", "name": "Tovurum", "age": 36, "city": "Zarekud"}
{"id": 1, "name": "Tovurum", "age": 36, "city": "Zarekud", "active": true}
{"hinweis": "wie gewünscht", "name": "Tovurum", "age": 36, "city": "Zarekud"}
{"name": "Tovurum", "alter": 36, "age": 36, "city": "Zarekud"}
{"name": "Tovurum", "age": 36e0, "city": "Zarekud"}
{"name": "Tovurum", "age": 360e-1, "city": "Zarekud"}
{"name": "Tovurum\\n", "age": 36, "city": "Zarekud"}
{"name": "Tovurum", "age": 36, "city": "\\tZarekud"}
⏎⏎⏎{"name": "Tovurum",⏎⏎"age": 36, "city": "Zarekud"}
{"name": "Tovurum", "age": 36, "city": "Zarekud", "ratio": 1.5, "list": [1, 2]}
{"": "", "name": "Tovurum", "age": 36, "city": "Zarekud"}
{"city": "Zarekud",⏎ "age": "36",⏎ "name": "Tovurum"}
""")
JSON_WRONG = phrasings("""
{"name": "Tovurum", "age": 37, "city": "Zarekud"}
{"name": "Tovurum", "age": 63, "city": "Zarekud"}
{"name": "Tovurum", "age": 36.5, "city": "Zarekud"}
{"name": "Tovurum", "age": -36, "city": "Zarekud"}
{"name": "Tovurum", "age": null, "city": "Zarekud"}
{"name": "Tovurum", "age": true, "city": "Zarekud"}
{"name": "Tovurum", "age": "thirty-six", "city": "Zarekud"}
{"name": "Tovurum", "age": "36 years", "city": "Zarekud"}
{"name": "Tovurum", "age": [36], "city": "Zarekud"}
{"name": "Tovurun", "age": 36, "city": "Zarekud"}
{"name": "Lobepat", "age": 36, "city": "Zarekud"}
{"name": "Zarekud", "age": 36, "city": "Tovurum"}
{"name": "", "age": 36, "city": "Zarekud"}
{"name": null, "age": 36, "city": "Zarekud"}
{"name": ["Tovurum"], "age": 36, "city": "Zarekud"}
{"name": {"first": "Tovurum"}, "age": 36, "city": "Zarekud"}
{"name": "Tovurum", "age": 36, "city": "Gopitiz"}
{"name": "Tovurum", "age": 36, "city": "Zarekud, Germany"}
{"name": "Tovurum", "age": 36}
{"name": "Tovurum", "city": "Zarekud"}
{"age": 36, "city": "Zarekud"}
{}
[]
null
36
"Tovurum"
["Tovurum", 36, "Zarekud"]
[{"name": "Tovurum", "age": 36, "city": "Zarekud"}]
{"person": {"name": "Tovurum", "age": 36, "city": "Zarekud"}}
{"Name": "Tovurum", "Age": 36, "City": "Zarekud"}
{"name": "Tovurum", "alter": 36, "stadt": "Zarekud"}
{'name': 'Tovurum', 'age': 36, 'city': 'Zarekud'}
{name: "Tovurum", age: 36, city: "Zarekud"}
{"name": "Tovurum", "age": 36, "city": "Zarekud",}
{"name": "Tovurum", "age": 36, "city": "Zarekud"
"name": "Tovurum", "age": 36, "city": "Zarekud"
Here it is: {"name": "Tovurum", "age": 36, "city": "Zarekud"}
{"name": "Tovurum", "age": 36, "city": "Zarekud"} Hope that helps!
Hier ist das JSON: {"name": "Tovurum", "age": 36, "city": "Zarekud"}
```json⏎{"name": "Tovurum", "age": 36, "city": "Zarekud"}⏎```
{“name”: “Tovurum”, “age”: 36, “city”: “Zarekud”}
name: Tovurum⏎age: 36⏎city: Zarekud
<name>Tovurum</name>
// person⏎{"name": "Tovurum", "age": 36, "city": "Zarekud"}
Tovurum, 36, Zarekud
""")

SCENARIO_RIGHT = phrasings("""
couldn't open | I couldn't open the file.
couldn't open | I couldn’t open the file.
couldn’t open | I couldn't open the file.
couldn't open | I COULDN'T OPEN the file.
couldn't open | I **couldn't** open the file.
couldn't open | I couldn't  open the file.
couldn't open | I couldn't⏎open the file.
couldn't open | I couldn't\u00a0open the file.
in stock | The lamp is in stock.
in stock | The lamp is *in stock*.
in stock | The lamp is in\u00a0stock.
in stock | | lamp | in stock |
in stock | In Stock: 5
auf Lager | Die Lampe ist auf Lager.
auf Lager | Die Lampe ist **auf Lager**.
"ready" | The state is “ready”.
"ready" | Der Stand ist „ready“.
well-known | A well‑known place.
well-known | A well-known place.
café | Das Café ist offen.
café | Das Cafe\u0301 ist offen.
straße | Die STRASSE ist gesperrt.
Tovurum | Station: `Tovurum`.
Tovurum | Tovurum-Station
21 | It is 21 °C.
21 | It is 21°C.
21 | 21.0 degrees
21 | Es sind 21,0 Grad.
21 | - 21
9231.5 | $9,231.50
9231.5 | 9.231,50 €
9231.5 | 9 231,50
9231.5 | 9'231.50
9231.50 | 9231.5
9231.50 | The total is **9,231.50**.
1234567 | 1,234,567
1234567 | 1.234.567
1234567 | 1 234 567
1234567 | 12,34,567
1000 | 1k
-5 | It is -5 °C.
-5 | Es sind −5 °C.
o-1234 | The order is o-1234.
o-1234 | The order is O‑1234.
""")
SCENARIO_WRONG = phrasings("""
couldn't open | I could open the file.
couldn't open | I couldn't close the file.
couldn't open | I couldnt open the file.
couldn't open | open, I couldn't
in stock | The lamp is out of stock.
in stock | The lamp is sold out.
in stock | instock
in stock | The stock is in.
auf Lager | Die Lampe ist ausverkauft.
auf Lager | Lager auf
"ready" | The state is ready.
"ready" | The state is "steady".
well-known | A known well.
well-known | An unknown place.
café | Das Kaffeehaus ist offen.
straße | Der Weg ist gesperrt.
Tovurum | Station: Tovurun.
Tovurum | Station: T o v u r u m
21 | It is 12 °C.
21 | It is 210 °C.
21 | It is 121 °C.
21 | It is 21.5 °C.
21 | It is 2.1 °C.
21 | It is -21 °C.
21 | It is twenty.
21 | Es sind 22 Grad.
21 | 2100
21 | 21%
9231.5 | 9231
9231.5 | $9,231.05
9231.5 | 9.231,05 €
9231.5 | 92315
9231.5 | 9,2315
9231.50 | 9231.55
9231.50 | 19231.50
1234567 | 1,234,568
1234567 | 1234.567
1234567 | 12345678
1000 | 100
1000 | 10,000
1000 | 1
-5 | It is 5 °C.
-5 | Es sind 5 °C.
o-1234 | The order is o-123.
o-1234 | The order is 1234.
""")
