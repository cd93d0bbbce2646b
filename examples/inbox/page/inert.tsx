import { inertText } from 'holdpoint';

/* A pair of backslashes is the text's own, so what follows it is no escape of ours. */
const escape = /(\\\\|\\u\{[0-9a-f]+\})/;

/**
 * Text that a model, a tool or a stranger wrote. Nothing in it is obeyed: it becomes a text node, its lines and its indentation stay, and what would
 * be hidden, or turn the reading direction, is shown as `\u{…}` and marked.
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
