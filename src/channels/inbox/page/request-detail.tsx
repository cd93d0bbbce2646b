import { useEffect, useRef } from 'preact/hooks';
import { inertLine, inertText } from '../../../content/inert-text.ts';
import type { InboxEntry, InboxRequest } from '../inbox-api.ts';

/** What of a request the person has seen. */
export interface ShownState {
  isWhole: boolean;
  missing: readonly string[];
  hidden: number;
}

export interface DetailHandle {
  showNext(): void;
  showPrevious(): void;
  unfoldAll(): void;
}

interface RequestDetailProps {
  entry: InboxEntry;
  earlier: InboxRequest['earlier'];
  conversation?: InboxRequest['conversation'];
  now: number;
  onShown: (shown: ShownState) => void;
  handle: (handle: DetailHandle) => void;
}

/** A request. */
export function RequestDetail({ entry, onShown, handle }: RequestDetailProps) {
  const end = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const element = end.current;
    if (element === null) return undefined;
    const scroll = (part: number): void => {
      const scroller = element.closest('.detail-scroll') ?? document.documentElement;
      scroller.scrollBy({ top: scroller.clientHeight * part });
    };
    handle({ showNext: () => scroll(0.9), showPrevious: () => scroll(-0.9), unfoldAll: () => {} });
    const observer = new IntersectionObserver((seen) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      onShown({ isWhole: true, missing: [], hidden: entry.masked.length });
    });
    observer.observe(element);
    onShown({ isWhole: false, missing: ['input'], hidden: entry.masked.length });
    return () => observer.disconnect();
  }, [entry.digest]);
  const call = entry.lostCall ?? (entry.request && entry.request.toolCall);
  return (
    <div>
      <p>{inertLine(entry.toolName ?? '')}</p>
      <pre>{inertText(JSON.stringify(call?.input, null, 2) ?? '')}</pre>
      <p ref={end}>End</p>
    </div>
  );
}
