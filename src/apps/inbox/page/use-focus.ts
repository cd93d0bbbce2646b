import { useLayoutEffect, useRef } from 'preact/hooks';
import type { FocusPlace, Inbox } from './inbox.ts';

/** Moves the focus where the inbox says, and restores it if the focused element is gone. It never goes to a button that answers. */
export function useFocus(inbox: Inbox): void {
  const moved = useRef(0);
  const last = useRef<Element | null>(null);
  useLayoutEffect(() => {
    const { focus } = inbox;
    if (focus !== undefined && focus.change !== moved.current) {
      moved.current = focus.change;
      moveFocus(focus.at, inbox);
    } else if (isLost(last.current)) {
      moveFocus(inbox.opened === undefined ? 'row' : 'heading', inbox);
    }
    last.current = document.activeElement;
  });
}

function isLost(last: Element | null): boolean {
  if (last === null || last === document.body || document.activeElement !== document.body)
    return false;
  return !last.isConnected || !last.checkVisibility();
}

const steps = '.edit-form :is(input, textarea, select), .answers .step';

function moveFocus(at: FocusPlace['at'], inbox: Inbox): void {
  const title = document.getElementById('request-title');
  const startReading = (): void => {
    title?.focus({ preventScroll: true });
    title?.closest('.detail-scroll')?.scrollTo(0, 0);
    if (inbox.isWide) return;
    window.scrollTo(0, 0);
    /* Content above it may fill a small window. */
    title?.scrollIntoView({ block: 'nearest' });
  };
  switch (at) {
    case 'heading':
      return startReading();
    case 'row': {
      const key = CSS.escape(inbox.activeKey ?? '');
      const row = document.querySelector<HTMLElement>(`[data-key="${key}"]`);
      (row ?? title)?.focus();
      return;
    }
    case 'step': {
      /* An edited input is read from the start. */
      if (inbox.answering.step === 'check') return startReading();
      const step = document.querySelector<HTMLElement>(steps);
      return (step ?? title)?.focus();
    }
    case 'search':
      document.getElementById('search')?.focus();
  }
}
