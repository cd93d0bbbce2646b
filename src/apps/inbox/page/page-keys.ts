import type { Inbox } from './inbox.ts';
import { KeyGate } from './key-gate.ts';
import { type KeyAction, type KeyPlace, readKey } from './key-map.ts';
import type { DetailHandle } from './request-detail.tsx';
import type { StoredSetting } from './stored-setting.ts';

interface PageKeysOptions {
  inbox: Inbox;
  letters: StoredSetting;
  detail: () => DetailHandle | undefined;
  showHelp: () => void;
}

const fields =
  'input, textarea, select, [contenteditable]:not([contenteditable="false"]), [role="combobox"], [role="textbox"]';

/** Finds the place that gets a key while an element has the focus. */
export function findPlace(target: EventTarget | null): KeyPlace {
  if (!(target instanceof Element)) return 'page';
  if (target.closest(fields)) return 'field';
  if (target.closest('button, a[href], summary')) return 'control';
  return target.closest('[role="row"]') ? 'row' : 'page';
}

/** Listens to the keys of the page. */
export function listenToKeys(options: PageKeysOptions): void {
  const { inbox, letters } = options;
  const gate = new KeyGate();
  const down = (event: KeyboardEvent): void => {
    const counts = gate.press(event.code || event.key, event);
    const place = findPlace(event.target);
    if (!counts) {
      /* A held Enter clicks a button at each repeat. */
      if (place === 'control' && (event.key === 'Enter' || event.key === ' '))
        event.preventDefault();
      return;
    }
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
    if (inbox.problem?.isWithheld === true) return;
    const action = readKey(event, place, { areLettersOn: letters.isOn });
    if (action === undefined) return;
    event.preventDefault();
    runAction(action, event.target, options);
  };
  /* Before any field or button gets it. */
  document.addEventListener('keydown', down, { capture: true });
  document.addEventListener('keyup', ({ code, key }) => gate.release(code || key), {
    capture: true,
  });
  window.addEventListener('blur', () => gate.reset());
}

function runAction(
  action: KeyAction,
  target: EventTarget | null,
  { inbox, detail, showHelp }: PageKeysOptions,
): void {
  const { answering, list, opened } = inbox;
  const isInList = target instanceof Element && target.closest('.list-pane') !== null;
  const isFromList = isInList || opened === undefined;
  const row = isFromList ? list.findRow(inbox.activeKey) : list.findRow(opened.row.key);
  switch (action) {
    case 'next':
      return void inbox.move(1, isFromList ? 'list' : 'detail');
    case 'previous':
      return void inbox.move(-1, isFromList ? 'list' : 'detail');
    case 'open':
      return row && inbox.open(row, 'heading');
    case 'back':
      if (target instanceof Element && target.closest('.tools')) return inbox.moveFocusTo('row');
      return inbox.goBack();
    case 'show-next':
      return detail()?.showNext();
    case 'show-previous':
      return detail()?.showPrevious();
    case 'unfold':
      return detail()?.unfoldAll();
    case 'approve':
      return opened && answering.approve();
    case 'reject':
      return opened && answering.startReject();
    case 'edit':
      return opened && answering.startEdit();
    case 'mark':
      return row && inbox.marks.toggle(row);
    case 'mark-range':
      return row && inbox.marks.markRange(row);
    case 'search':
      return inbox.moveFocusTo('search');
    case 'help':
      return showHelp();
  }
}
