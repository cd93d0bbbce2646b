import { useEffect, useRef } from 'preact/hooks';
import { inertLine } from '../../../content/inert-text.ts';
import type { InboxEntry } from '../inbox-api.ts';
import type { DetailHandle, ShownState } from './request-detail.tsx';

interface DifferencesTableProps {
  entries: readonly InboxEntry[];
  now: number;
  onShown: (shown: ShownState) => void;
  handle: (handle: DetailHandle) => void;
}

/** What differs between requests that are alike. */
export function DifferencesTable({ entries, onShown }: DifferencesTableProps) {
  const end = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (end.current === null) return undefined;
    const observer = new IntersectionObserver((seen) => {
      if (seen.some(({ isIntersecting }) => isIntersecting))
        onShown({ isWhole: true, missing: [], hidden: 0 });
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [entries]);
  return (
    <div>
      <ul>
        {entries.map(({ requestId, request }) => (
          <li key={requestId}>{inertLine(JSON.stringify(request?.toolCall?.input) ?? '')}</li>
        ))}
      </ul>
      <p ref={end}>End</p>
    </div>
  );
}
