import { makeOnce } from './once.ts';

const hidden = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}`;

/* The three flags that are spelled with tags. Tags after any other emoji could hide text. */
const flag = String.raw`\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}`;
const picture = String.raw`(?=\p{Emoji})\p{Extended_Pictographic}(?:[\uFE0E\uFE0F]|\p{Emoji_Modifier})?`;
const emoji = String.raw`${flag}|[#*0-9]\uFE0F\u20E3|${picture}(?:\u200D${picture})*`;

/* A joiner changes the form of letters in these scripts. Elsewhere it is only invisible. */
const joined = ['Arab', 'Syrc', 'Nkoo', 'Adlm', 'Rohg']
  .concat(['Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh'])
  .concat(['Mymr', 'Khmr', 'Bali', 'Java'])
  .map((script) => String.raw`(?<=\p{scx=${script}}.)(?=\p{scx=${script}})`);
const letter = String.raw`(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}]`;
const joiner = String.raw`[\u200C\u200D](?<=${letter}.)(?=${letter})(?:${joined.join('|')})`;

const hiddenInText = String.raw`(?![\n\t])(?:${hidden})`;

/* Made at the first use, because V8 takes milliseconds to parse them. */
const inLine = makeOnce(() => new RegExp(String.raw`(${emoji}|${joiner})|\\|${hidden}`, 'gu'));
const inText = makeOnce(
  () => new RegExp(String.raw`(${emoji}|${joiner})|\\+|${hiddenInText}`, 'gu'),
);
const inAnyText = makeOnce(() => new RegExp(hidden, 'gu'));
/* Text after a backslash that resembles an escape, or becomes one. */
const escapeNext = makeOnce(() => new RegExp(String.raw`u\{[0-9a-fA-F]+\}|${hiddenInText}`, 'uy'));

const tabStop = 4;

/**
 * Makes untrusted prose or code, from a model, a tool or a user, safe to print. Lines stay lines, tabs become spaces up to the next
 * multiple of four columns, and emoji stay whole, as do joiners between letters of scripts that need them. Characters that are invisible,
 * or that would control a terminal or the reading direction, become `\u{…}`.
 *
 * Nothing is removed, so different texts stay different, except that tabs equal spaces and `\r\n` equals `\n`. A backslash is doubled only
 * before text that would otherwise read as such an escape.
 *
 * For a value within a line use `inertLine`.
 *
 * @example
 * inertText('a\n\n\tC:\\new') // 'a\n\n    C:\\new'
 * inertText('evil\u202Etxt.exe') // 'evil\\u{202e}txt.exe'
 * inertText('\\u{202e}') // '\\\\u{202e}': the text itself spells an escape
 */
export function inertText(text: string): string {
  const lines = text.replaceAll('\r\n', '\n');
  return lines
    .replace(inText(), (found: string, kept: string | undefined, place: number) => {
      if (kept !== undefined) return kept;
      if (!found.startsWith('\\')) return escapeCharacter(found);
      const next = escapeNext();
      next.lastIndex = place + found.length;
      return next.test(lines) ? found + found : found;
    })
    .split('\n')
    .map(withSpaces)
    .join('\n');
}

/**
 * Makes an untrusted value, from a model, a tool or a user, safe to print within a line. Unlike `inertText`, it also writes line feeds and
 * tabs as `\u{a}` and `\u{9}`, and doubles every backslash. Different texts stay different.
 *
 * @example
 * inertLine('a\nb') // 'a\\u{a}b'
 * inertLine('back\\slash') // 'back\\\\slash'
 */
export function inertLine(text: string): string {
  return text.replace(inLine(), (found: string, kept: string | undefined) => {
    if (kept !== undefined) return kept;
    return found === '\\' ? '\\\\' : escapeCharacter(found);
  });
}

/**
 * A text without the characters that are invisible, and without emoji's variation selectors and joiners: to check whether two texts look
 * the same. Never show it.
 */
export function omitHidden(text: string): string {
  return text.replace(inAnyText(), '');
}

/** An untrusted name, such as that of an argument: in quotation marks if it is not a plain word, so that it can't imitate anything else. */
export function inertName(name: string): string {
  return /^[\w$-]+$/.test(name) ? name : quoteInertLine(name);
}

/** Lists untrusted names in one line that is safe to show. */
export function inertNames(names: readonly string[]): string {
  return names.map((name) => inertLine(name)).join(', ');
}

/** Quotes an untrusted value as `inertLine` makes it, in quotation marks that it can't end. */
export function quoteInertLine(text: string): string {
  return quoteInert(inertLine(text));
}

/** A line that `inertLine` has made, in quotation marks that it can't end. */
export function quoteInert(line: string): string {
  /* `inertLine` doubles the backslashes of the text, so `\"` can only be a quotation mark of the text. */
  return `"${line.replaceAll('"', '\\"')}"`;
}

function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

function withSpaces(line: string): string {
  let shown = '';
  for (const [index, part] of line.split('\t').entries()) {
    shown += (index === 0 ? '' : ' '.repeat(tabStop - (shown.length % tabStop))) + part;
  }
  return shown;
}
