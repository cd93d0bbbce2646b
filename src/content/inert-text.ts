const hidden = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}`;

/* Of flags spelt with tags only these three: tags after any other emoji could hold a hidden text. */
const flag = String.raw`\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}`;
const picture = String.raw`(?=\p{Emoji})\p{Extended_Pictographic}(?:[\uFE0E\uFE0F]|\p{Emoji_Modifier})?`;
const emoji = String.raw`${flag}|[#*0-9]\uFE0F\u20E3|${picture}(?:\u200D${picture})*`;

/* A joiner gives letters of these scripts another form; elsewhere it only hides. */
const joined = ['Arab', 'Syrc', 'Nkoo', 'Adlm', 'Rohg']
  .concat(['Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh'])
  .concat(['Mymr', 'Khmr', 'Bali', 'Java'])
  .map((script) => String.raw`(?<=\p{scx=${script}}.)(?=\p{scx=${script}})`);
const letter = String.raw`(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}]`;
const joiner = String.raw`[\u200C\u200D](?<=${letter}.)(?=${letter})(?:${joined.join('|')})`;

const inLine = new RegExp(String.raw`(${emoji}|${joiner})|\\|${hidden}`, 'gu');
const hiddenInText = String.raw`(?![\n\t])(?:${hidden})`;
const inText = new RegExp(String.raw`(${emoji}|${joiner})|\\+|${hiddenInText}`, 'gu');
/* After a backslash: what reads like an escape, or becomes one. */
const escapeNext = new RegExp(String.raw`u\{[0-9a-fA-F]+\}|${hiddenInText}`, 'uy');

const tabStop = 4;

/**
 * Prose or code that came from a model, a tool or a stranger, safe to print and still as it is written: lines stay lines, a tab
 * goes to the next stop of four columns, emoji stay whole, and so do joiners between letters of scripts that need them. What would
 * be invisible, or would act on a terminal or on the reading direction, becomes `\u{…}`.
 *
 * Nothing is stripped, so different texts stay different, except for tabs against spaces and `\r\n` against `\n`. Backslashes are
 * doubled only before something that would otherwise read as such an escape.
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
    .replace(inText, (found: string, kept: string | undefined, place: number) => {
      if (kept !== undefined) return kept;
      if (!found.startsWith('\\')) return escaped(found);
      escapeNext.lastIndex = place + found.length;
      return escapeNext.test(lines) ? found + found : found;
    })
    .split('\n')
    .map(withSpaces)
    .join('\n');
}

/**
 * A value that came from a model, a tool or a stranger, safe to print within one line: as `inertText`, but line feeds and tabs are
 * `\u{a}` and `\u{9}` too, and every backslash is doubled. Different texts stay different.
 *
 * @example
 * inertLine('a\nb') // 'a\\u{a}b'
 * inertLine('back\\slash') // 'back\\\\slash'
 */
export function inertLine(text: string): string {
  return text.replace(inLine, (found: string, kept: string | undefined) => {
    if (kept !== undefined) return kept;
    return found === '\\' ? '\\\\' : escaped(found);
  });
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

function withSpaces(line: string): string {
  let shown = '';
  for (const [index, part] of line.split('\t').entries()) {
    shown += (index === 0 ? '' : ' '.repeat(tabStop - (shown.length % tabStop))) + part;
  }
  return shown;
}
