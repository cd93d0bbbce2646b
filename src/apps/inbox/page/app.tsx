import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { countWords } from './entry-words.ts';
import { DetailPane } from './detail-pane.tsx';
import type { Inbox } from './inbox.ts';
import { KeyHelp } from './key-help.tsx';
import { ListFilter, ListTabs } from './list-tools.tsx';
import type { Notifier } from './notifier.ts';
import { OutcomeStrip } from './outcome-strip.tsx';
import { findPlace, listenToKeys } from './page-keys.ts';
import type { DetailHandle } from './request-detail.tsx';
import { openDialog } from './open-dialog.ts';
import { ListPane } from './list-pane.tsx';
import type { StoredSetting } from './stored-setting.ts';
import { useFocus } from './use-focus.ts';

interface AppProps {
  inbox: Inbox;
  letters: StoredSetting;
  notifier: Notifier;
  title: string;
  /** Checks whether the server can be reached. */
  isReachable: () => boolean;
}

/** The page: the list tabs, the current list, and the open request. */
export function App({ inbox, letters, notifier, title, isReachable }: AppProps) {
  const [, render] = useReducer((count: number, more: number) => count + more, 0);
  const rerender = (): void => render(1);
  const detail = useRef<DetailHandle | undefined>(undefined);
  const help = useRef<HTMLDialogElement>(null);
  const showHelp = (): void => openDialog(help.current);
  /* Before the first frame: the list and a key for it may come sooner. */
  useLayoutEffect(() => inbox.subscribe(rerender), [inbox]);
  useLayoutEffect(
    () => listenToKeys({ inbox, letters, detail: () => detail.current, showHelp }),
    [inbox],
  );
  const panes = useRef<HTMLElement>(null);
  useFreezing(inbox, panes);
  useWidth(inbox, panes);
  inbox.isInField = () => findPlace(document.activeElement) === 'field';
  useFocus(inbox);
  const arrivals = useArrivals(inbox.list.newCount);
  const { opened, answering, problem } = inbox;
  const isWithheld = problem?.isWithheld ?? false;
  return (
    <div class="inbox">
      <header class="top">
        <h1>{title}</h1>
        {!isWithheld && <ListTabs inbox={inbox} />}
        {!isWithheld && <ListFilter inbox={inbox} />}
        <div class="settings">
          {notifier.isPossible && (
            <Button
              look="quiet"
              isPressed={notifier.isOn}
              onPress={() => void notifier.toggle().then(rerender)}
            >
              Notify me
            </Button>
          )}
          <Button look="quiet" action="help" onPress={showHelp}>
            Keys
          </Button>
        </div>
      </header>
      {!isWithheld && <OutcomeStrip inbox={inbox} arrivals={arrivals} />}
      <div class="alerts" role="alert">
        {!isReachable() && (
          <p>The server can’t be reached. Answers are kept, and sent as soon as it can.</p>
        )}
        {problem !== undefined && (
          <p>
            {problem.text}
            {isWithheld && (
              /* In another tab: typed text stays here until the same person is back. */
              <Button look="quiet" onPress={() => void open(location.href, '_blank', 'noopener')}>
                Sign in
              </Button>
            )}
          </p>
        )}
        {answering.alert !== undefined && !isWithheld && (
          <p>
            {answering.alert}
            <Button look="quiet" onPress={() => answering.closeAlert()}>
              Close
            </Button>
          </p>
        )}
      </div>
      <main ref={panes} class="panes" data-open={opened === undefined ? 'list' : 'detail'}>
        {!isWithheld && (
          <>
            <ListPane inbox={inbox} />
            <DetailPane
              inbox={inbox}
              detail={() => detail.current}
              onHandle={(handle) => (detail.current = handle)}
            />
          </>
        )}
      </main>
      <KeyHelp dialog={help} letters={letters} onChange={rerender} />
    </div>
  );
}

/* Freezes the list while the pointer is over the page's panes, or the focus is in them. */
function useFreezing(inbox: Inbox, panes: { current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const element = panes.current;
    if (element === null) return;
    let isOver = false;
    const update = (): void => inbox.setFrozen(isOver || element.contains(document.activeElement));
    const watch = (type: string, isNowOver?: boolean): void =>
      element.addEventListener(type, () => {
        isOver = isNowOver ?? isOver;
        /* While the focus moves, no element has it. */
        setTimeout(update);
      });
    watch('pointerenter', true);
    watch('pointermove', true);
    watch('pointerleave', false);
    watch('focusin');
    watch('focusout');
  }, [inbox]);
}

/* The panes may be narrower than the window. */
function useWidth(inbox: Inbox, panes: { current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const element = panes.current;
    if (element === null) return undefined;
    /* Called with the first frame too. Reading styles earlier would lay out the page without its list. */
    const observer = new ResizeObserver(() => {
      inbox.isWide = getComputedStyle(element).getPropertyValue('--side-by-side').trim() === '1';
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [inbox]);
}

const arrivalsMs = 10_000;

/* Announced at most every ten seconds. */
function useArrivals(newCount: number): string {
  const [said, setSaid] = useState({ count: 0, at: 0 });
  useEffect(() => {
    if (newCount === said.count) return undefined;
    const wait = newCount === 0 ? 0 : Math.max(0, said.at + arrivalsMs - Date.now());
    const timer = setTimeout(() => setSaid({ count: newCount, at: Date.now() }), wait);
    return () => clearTimeout(timer);
  }, [newCount, said]);
  return said.count === 0 ? '' : `${countWords(said.count, 'new request')}.`;
}
