import { isObject } from '../../../json/json-value.ts';
import { lookAlikeWarnings } from '../../../content/look-alikes.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { useAfterPaint, useHold } from './reading.tsx';

/* More text takes longer than a frame. */
const longest = 50_000;

/** Shows look-alike warnings about requests, if any. */
export function Warnings({ of: entries }: { of: readonly InboxEntry[] }) {
  const texts = entries.map(({ request, lostCall, details, requesters, approvers, sourceUrl }) => [
    request,
    lostCall,
    details,
    requesters,
    approvers,
    sourceUrl,
  ]);
  const isLarge = isLongerThan(texts, longest);
  const warnings = useAfterPaint(() => lookAlikeWarnings(texts), isLarge, [
    entries[0],
    entries.length,
  ]);
  useHold(warnings === undefined);
  if (warnings === undefined) return <p className="muted">Looking for letters that look alike …</p>;
  return (
    <>
      {warnings.map((warning) => (
        <p key={warning} className="warning">
          {warning}
        </p>
      ))}
    </>
  );
}

function isLongerThan(value: unknown, limit: number): boolean {
  let length = 0;
  const ahead = [value];
  for (let next = ahead.pop(); next !== undefined || ahead.length > 0; next = ahead.pop()) {
    length += typeof next === 'string' ? next.length : 1;
    if (length > limit) return true;
    if (isObject(next)) for (const inner of Object.values(next)) ahead.push(inner);
  }
  return false;
}
