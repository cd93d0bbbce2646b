import { quoteInertLine, omitHidden } from './inert-text.ts';
import { makeOnce } from './once.ts';

/* The scripts with letters that look like those of another script in the list. */
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
/* Text that may contain a host, or another name to warn of. */
const notable = /[^\0-\x7F]|[/\\]{2}|(?:https?|wss?|ftp):/i;

/* Letters that nearly everybody takes for Latin ones. The rarer scripts of the list above consist of little else. */
const latinAlike = ['асԁеһіјӏорԛѕԝхуҽѵАВЕЅІЈКМНОРСТУХ', 'αγικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'օոսհցյ'].join(
  '',
);
const rareScripts = ['Cherokee', 'Coptic', 'Lisu', 'Deseret'].map(
  (name) => String.raw`\p{Script=${name}}`,
);
/* No Latin letter looks like these, which stand in formulas and units. */
const greekSymbols = 'ΓΔΘΛΞΠΣΦΨΩ\u2126δζθλξπφψϑϕϖ';
const dots = '.。．｡';
const slashes = '∕⁄⧸╱⟋／＼⧹';
const fileEndings =
  'csv|docx?|gif|html?|jpe?g|js|json|log|pdf|png|pptx?|svg|txt|webp|xlsx?|xml|yaml';

/* Made at the first use, because V8 takes milliseconds to parse them. */
const patterns = makeOnce(() => {
  const letters = String.raw`\p{L}\p{M}\p{N}`;
  return {
    word: new RegExp(`[${letters}]+`, 'gu'),
    authority: new RegExp(
      String.raw`(?<=[/\\]{2}|(?:https?|wss?|ftp):[/\\]?)(?:(?![<>|^\x60])[${letters}\p{S}\p{Cf}${dots}／＼？＃＠：%_:@&+*!\-])+`,
      'giu',
    ),
    token: new RegExp(String.raw`[${letters}_\-${dots}${slashes}]+`, 'gu'),
    mailHost: new RegExp(String.raw`(?<=@)[${letters}_\-${dots}]+`, 'gu'),
    ending: /[\p{P}\p{S}]+$/u,
    dot: new RegExp(`[${dots}]`, 'u'),
    slash: new RegExp(`[${slashes}]`, 'u'),
    topLevel: /^\p{L}{2,63}$/u,
    latinTop: new RegExp(`^(?!(?:${fileEndings})$)[a-z]{2,63}$`, 'i'),
    allAlike: new RegExp(`^[${latinAlike}${rareScripts.join('')}\\d-]+$`, 'u'),
    /* A unit such as μm, or a product such as αx. */
    unit: /^\p{N}*(?:\u03BC\p{Script=Latin}{1,3}|[αβγεηκνρστχω]\p{Script=Latin})\p{N}*$/u,
    symbol: new RegExp(`[${greekSymbols}]`, 'gu'),
    scripts: scriptNames.map((name) => ({
      name: name.replace('_', ' '),
      letter: new RegExp(String.raw`\p{Script=${name}}`, 'u'),
    })),
  };
});

const mostWarnings = 5;
const longestShown = 60;
/* No longer name can be looked up, however it is written. */
const longestHost = 253;
const longestWritten = 4_000;

/**
 * Finds look-alikes in a request, or in any other JSON value: text that may be mistaken for other text. Show the lines beside the request.
 * They are safe to show in a page or a terminal; there are at most six, and usually none. They name:
 *
 * - words that mix letters of scripts whose letters look alike, as Latin and Cyrillic do, apart from units and symbols such as `μm` and `Δt`;
 * - hosts of URLs and email addresses that are not spelled as the network spells them, or have another domain's name before their `@`;
 * - names with a dot outside URLs, if their letters would be taken for Latin ones, or if they contain what looks like a slash.
 *
 * Any other word of one script is not named. Based on
 * [Unicode Technical Standard 39](https://www.unicode.org/reports/tr39/#Restriction_Level_Detection).
 *
 * @example
 * lookAlikeWarnings({ to: 'info@\u0440\u0430ypal.com' })
 * // ['"раypal" mixes Latin and Cyrillic letters', '"раypal.com" is the host xn--ypal-43d9g.com']
 */
export function lookAlikeWarnings(value: unknown): string[] {
  const warnings = new Set<string>();
  for (const text of listTexts(value)) {
    if (!notable.test(text)) continue;
    const { word, authority, mailHost, token } = patterns();
    const add = (pattern: RegExp, warningOf: (found: string) => string | undefined): void => {
      for (const [found] of text.matchAll(pattern)) addTo(warnings, warningOf(found));
    };
    add(word, warnOfMix);
    add(authority, warnOfAuthority);
    if (!beyondAscii.test(text)) continue;
    add(mailHost, (found) => (beyondAscii.test(found) ? warnOfHost(found) : undefined));
    add(token, nameWarning);
  }
  const shown = [...warnings].slice(0, mostWarnings);
  const more = warnings.size - shown.length;
  return more === 0 ? shown : [...shown, `${more} more words or hosts like these`];
}

function warnOfMix(found: string): string | undefined {
  const mixed = findMixedScripts(found);
  const last = mixed.pop();
  if (mixed.length === 0) return undefined;
  return `${shortenQuoted(found)} mixes ${mixed.join(', ')} and ${last} letters`;
}

/** The scripts whose letters a word mixes; fewer than two for a word that mixes none. */
function findMixedScripts(word: string): string[] {
  if (!beyondAscii.test(word)) return [];
  const { scripts, unit, symbol } = patterns();
  const namesIn = (text: string): string[] =>
    scripts.filter(({ letter }) => letter.test(text)).map(({ name }) => name);
  const mixed = namesIn(word);
  if (mixed.join(' ') !== 'Latin Greek') return mixed;
  return unit.test(word) ? [] : namesIn(word.replaceAll(symbol, ''));
}

/** Warns of the part before the path of a URL. A password or a port may be in it, or the name of another host as a user's. */
function warnOfAuthority(found: string): string | undefined {
  const end = found.lastIndexOf('@');
  const host = found.slice(end + 1).replace(/:\d*$/, '');
  const isDisguised = /[.%]|[^\0-\x7F]/.test(found.slice(0, Math.max(end, 0)));
  return warnOfHost(host, isDisguised ? found : host);
}

function warnOfHost(host: string, shown = host): string | undefined {
  const { dot, ending } = patterns();
  if (host.length > longestWritten) return undefined;
  const trimmed = host.replace(ending, '');
  if (!dot.test(trimmed) && !/^[\d%]/.test(trimmed)) return undefined;
  const name = shortenQuoted(shown.slice(0, shown.length - host.length + trimmed.length));
  const url = `http://${trimmed}`;
  /* Other software may turn a wide slash into a slash. */
  if (!URL.canParse(url)) {
    return /[/\\?#@:]/.test(trimmed.normalize('NFKC')) ? `${name} is not a valid host` : undefined;
  }
  const { hostname } = new URL(url);
  const isAsShown = hostname === trimmed.toLowerCase() && shown === host;
  if (isAsShown || hostname.length > longestHost) return undefined;
  return `${name} is the host ${hostname}`;
}

/** Warns of a name outside a URL: most names with a dot are of files, or of hosts that anybody can read. */
function nameWarning(found: string): string | undefined {
  if (!beyondAscii.test(found)) return undefined;
  const { dot, slash, topLevel, latinTop, allAlike } = patterns();
  const labels = found.split(dot).filter((label) => label !== '');
  const last = labels.pop() ?? '';
  if (labels.length === 0 || !topLevel.test(last)) return undefined;
  const isSlashed =
    labels.some((label) => slash.test(label)) && dot.test(found.split(slash)[0] ?? '');
  const deceives = (label: string): boolean =>
    findMixedScripts(label).length > 1 || (beyondAscii.test(label) && allAlike.test(label));
  const isDeceptive = isSlashed || (latinTop.test(last) && labels.some(deceives));
  return isDeceptive ? warnOfHost(found) : undefined;
}

function shortenQuoted(text: string): string {
  return quoteInertLine(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);
}

function addTo(warnings: Set<string>, warning: string | undefined): void {
  if (warning !== undefined) warnings.add(warning);
}

/* Not recursive: values that are nested thousands deep would overflow the stack. */
function* listTexts(value: unknown): Iterable<string> {
  const ahead = [value];
  while (ahead.length > 0) {
    const next = ahead.pop();
    if (typeof next === 'string') yield next;
    if (typeof next !== 'object' || next === null) continue;
    const fields = Object.entries(next).toReversed();
    for (const [name, inner] of fields) ahead.push(inner, name);
  }
}

/**
 * Normalizes a person's name to a text that is equal for names which people can't distinguish, or which systems often treat as one: in
 * Unicode's form NFKC, in lower case, trimmed and without invisible characters.
 */
export function normalizeName(name: string): string {
  /* Some letters have no upper case, others no lower case: converted both ways, all forms of a letter become equal. */
  const oneCase = omitBlank(name.normalize('NFKC')).toLowerCase().toUpperCase().toLowerCase();
  return omitBlank(oneCase.normalize('NFKC')).trim();
}

/* The Braille blank looks like a space, but is not one in Unicode. */
function omitBlank(name: string): string {
  return omitHidden(name).replaceAll('\u2800', '');
}
