import { quotedLine } from './inert-text.ts';
import { once } from './once.ts';

/* Scripts with letters that look like those of another of them. */
const scriptNames = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Cherokee',
  'Coptic',
  'Lisu',
  'Deseret',
  'Tifinagh',
  'Canadian_Aboriginal',
];

const beyondAscii = /[^\0-\x7F]/;

/* Made at the first use, because V8 takes milliseconds to parse them. */
const patterns = once(() => {
  const part = String.raw`[\p{L}\p{M}\p{N}-]+`;
  const before = String.raw`(?<=@|[/\\]{2}|https?:[/\\]?)`;
  return {
    word: /[\p{L}\p{M}\p{N}]+/gu,
    host: new RegExp(String.raw`${before}${part}(?:\.${part})+`, 'gu'),
    scripts: scriptNames.map((name) => ({
      name: name.replace('_', ' '),
      letter: new RegExp(String.raw`\p{Script=${name}}`, 'u'),
    })),
  };
});

const mostWarnings = 5;
const longestShown = 60;
/* No longer name can be looked up. */
const longestHost = 253;

/**
 * Finds what may be taken for something else in a request, or in any other JSON value: words that mix letters of scripts whose letters
 * look alike, as Latin and Cyrillic do, and the hosts of URLs and email addresses that have characters outside ASCII, as the network
 * spells them. Show the lines beside the request. They are safe to show in a page or a terminal; there are at most six, and mostly none.
 *
 * A word that looks like another one but is of one script is only found in a host. Based on
 * [Unicode Technical Standard 39](https://www.unicode.org/reports/tr39/#Restriction_Level_Detection).
 *
 * @example
 * lookAlikeWarnings({ to: 'info@\u0440\u0430ypal.com' })
 * // ['"раypal" mixes Latin and Cyrillic letters', '"раypal.com" is the host xn--ypal-43d9g.com']
 */
export function lookAlikeWarnings(value: unknown): string[] {
  const warnings = new Set<string>();
  for (const text of textsIn(value)) {
    if (!beyondAscii.test(text)) continue;
    const { word, host } = patterns();
    for (const [found] of text.matchAll(word)) addTo(warnings, mixWarning(found));
    for (const [found] of text.matchAll(host)) addTo(warnings, hostWarning(found));
  }
  const shown = [...warnings].slice(0, mostWarnings);
  const more = warnings.size - shown.length;
  return more === 0 ? shown : [...shown, `${more} more words or hosts like these`];
}

function mixWarning(found: string): string | undefined {
  if (!beyondAscii.test(found)) return undefined;
  const mixed = patterns()
    .scripts.filter(({ letter }) => letter.test(found))
    .map(({ name }) => name);
  if (mixed.length < 2) return undefined;
  const last = mixed.pop();
  return `${shortened(found)} mixes ${mixed.join(', ')} and ${last} letters`;
}

function hostWarning(found: string): string | undefined {
  if (!beyondAscii.test(found) || !URL.canParse(`http://${found}`)) return undefined;
  const { hostname } = new URL(`http://${found}`);
  return hostname.length > longestHost ? undefined : `${shortened(found)} is the host ${hostname}`;
}

function shortened(text: string): string {
  return quotedLine(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);
}

function addTo(warnings: Set<string>, warning: string | undefined): void {
  if (warning !== undefined) warnings.add(warning);
}

/* Not recursive: values that are nested thousands deep would overflow the stack. */
function* textsIn(value: unknown): Iterable<string> {
  const ahead = [value];
  while (ahead.length > 0) {
    const next = ahead.pop();
    if (typeof next === 'string') yield next;
    if (typeof next !== 'object' || next === null) continue;
    const fields = Object.entries(next).toReversed();
    for (const [name, inner] of fields) ahead.push(inner, name);
  }
}
