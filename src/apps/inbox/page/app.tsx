import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { countWords } from './entry-words.ts';
import { DetailPane } from './detail-pane.tsx';
import type { FocusPlace, Inbox } from './inbox.ts';
import { ListFilter, ListTabs } from './list-tools.tsx';
import type { Notifier } from './notifier.ts';
import { findPlace, listenToKeys } from './page-keys.ts';
import type { DetailHandle } from './request-detail.tsx';
import { ListPane } from './list-pane.tsx';
import type { StoredSetting } from './stored-setting.ts';
import type { RefObject } from 'preact';
import { keyLines } from './key-map.ts';

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

/** Opens a dialog, with the focus on its heading, so that a held key presses none of its buttons. When it closes, the focus is not lost. */
function openDialog(dialog: HTMLDialogElement | null): void {
  if (dialog === null) return;
  dialog.showModal();
  dialog.querySelector('h2')?.focus();
  const restore = (): void => {
    const { activeElement } = document;
    if (activeElement !== document.body && !dialog.contains(activeElement)) return;
    document.getElementById('request-title')?.focus({ preventScroll: true });
  };
  dialog.addEventListener('close', restore, { once: true });
}

/**
 * The outcome of the last answer, and arrivals: the only region that a screen reader announces. Its height is fixed, so that nothing moves.
 */
function OutcomeStrip({ inbox, arrivals }: { inbox: Inbox; arrivals: string }) {
  return (
    <div class="outcome">
      <p role="status" aria-atomic="false">
        <span>{inbox.answering.message}</span> <span>{arrivals}</span>
      </p>
    </div>
  );
}

interface KeyHelpProps {
  dialog: RefObject<HTMLDialogElement | null>;
  letters: StoredSetting;
  onChange: () => void;
}

/** The list of keys, and the switch that turns letter keys off. */
function KeyHelp({ dialog, letters, onChange }: KeyHelpProps) {
  return (
    <dialog ref={dialog} aria-labelledby="help-title">
      <h2 id="help-title" tabIndex={-1}>
        Keys
      </h2>
      <dl class="keys">
        {keyLines.map(({ action, keys, does }) => (
          <div key={action}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p>In a field, letters are text and Enter answers nothing; Esc leaves it.</p>
      <label class="check">
        <input
          type="checkbox"
          checked={letters.isOn}
          onChange={({ currentTarget }) => {
            letters.set(currentTarget.checked);
            onChange();
          }}
        />
        Letters are keys in this browser
      </label>
      <div class="buttons">
        <Button onPress={() => dialog.current?.close()}>Close</Button>
      </div>
    </dialog>
  );
}

/** Moves the focus where the inbox says, and restores it if the focused element is gone. It never goes to a button that answers. */
function useFocus(inbox: Inbox): void {
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
