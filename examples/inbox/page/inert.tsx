import { inertText } from 'holdpoint';

/* A pair of backslashes comes from the text itself, so what follows it is not an escape of `inertText`. */
const escape = /(\\\\|\\u\{[0-9a-f]+\})/;

/**
 * Untrusted text. It becomes a text node with its lines and indentation; characters that are invisible or change the reading direction
 * are shown as `\u{…}` and marked.
 */
export function Inert({ text }: { text: string }) {
  return inertText(text)
    .split(escape)
    .map((part, index) =>
      index % 2 === 1 && part !== '\\\\' ? (
        <mark key={index} title="A character that would be invisible, or would move the text">
          {part}
        </mark>
      ) : (
        part
      ),
    );
}
