import { inertText } from 'holdpoint';

const escape = /(\\\\|\\u\{[0-9a-f]+\})/;

/**
 * Text that a model, a tool or a stranger wrote. Nothing in it is obeyed: it becomes a text node, its line breaks stay, and what would
 * be hidden, or turn the reading direction, is shown as `\u{…}` and marked.
 */
export function Inert({ text }: { text: string }) {
  const inert = text.split('\n').map(inertText).join('\n');
  return inert.split(escape).map((part, index) =>
    part.startsWith('\\u{') ? (
      <mark key={index} title="A character that would be invisible, or would move the text">
        {part}
      </mark>
    ) : (
      part
    ),
  );
}
