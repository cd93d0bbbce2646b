import { inertText } from '../../../content/inert-text.ts';

/* A pair of backslashes comes from the text itself, so no escape follows it. */
const escape = /(\\\\|\\u\{[0-9a-f]+\})/;

/** Untrusted text, with its lines. Characters that are invisible or change the reading direction are shown as `\u{…}` and marked. */
export function Inert({ text }: { text: string }) {
  return <Escaped text={inertText(text)} />;
}

/** Text that is already inert, with its escapes marked. */
export function Escaped({ text }: { text: string }) {
  if (!text.includes('\\')) return <>{text}</>;
  return (
    <>
      {text.split(escape).map((part, index) =>
        index % 2 === 1 && part !== '\\\\' ? (
          <mark
            key={index}
            className="escape"
            title="A character that would be invisible, or would move the text"
          >
            {part}
          </mark>
        ) : (
          part
        ),
      )}
    </>
  );
}
