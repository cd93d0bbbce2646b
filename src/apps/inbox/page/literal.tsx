import type { ComponentChildren } from 'preact';
import { Inert } from './inert.tsx';
import { LongText } from './long-text.tsx';
import { useHidden } from './reading.tsx';

/** A label about a value, which no text can imitate. */
export function Tag({ children }: { children: ComponentChildren }) {
  return <span className="tag">{children}</span>;
}

/* Texts that look like another kind of value, or like one of the tags. */
const likeOther =
  /^(?:[-+.\d]|(?:true|false|null|undefined|nothing|absent|text|secret|not shown|empty.*)\s*$|["'[{])/i;

/** A value without parts, exactly as it is: an absent value, `null`, an empty text and 0 differ. */
export function Literal({ value }: { value: unknown }) {
  if (value === undefined) return <Tag>absent</Tag>;
  if (value === null) return <Tag>null</Tag>;
  if (typeof value !== 'string') return <span className="code">{JSON.stringify(value)}</span>;
  if (value === '') return <Tag>empty text</Tag>;
  return (
    <>
      <LongText text={value} />
      {value.length < 200 && likeOther.test(value) && <Tag>text</Tag>}
      <EdgeTag text={value} />
    </>
  );
}

/** Marks a text with invisible space at its start or end. */
export function EdgeTag({ text }: { text: string }) {
  if (text.trim() === text) return null;
  return <Tag>with space at its {text.trimEnd() === text ? 'start' : 'end'}</Tag>;
}

/** Marks a value that can't be shown, and counts it. */
export function NotShown({ name, why }: { name: string; why: string }) {
  useHidden(name, true);
  return (
    <span className="not-shown">
      <Tag>not shown</Tag> <Inert text={why} />
    </span>
  );
}
