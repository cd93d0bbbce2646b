import { expect, test } from 'vitest';
import {
  findNextRow,
  isWaiting,
  makeRows,
  type Row,
  ShownList,
} from '../../src/apps/inbox/page/shown-list.ts';
import type { InboxEntry } from '../../src/apps/inbox/inbox-api.ts';
import { countEnded, describeRow } from '../../src/apps/inbox/page/entry-words.ts';
import { decide, makeEntry } from './page-entries.ts';

const idsOf = (rows: readonly Row[]): string[][] =>
  rows.map(({ entries }) => entries.map(({ requestId }) => requestId));

const showList = (...entries: InboxEntry[]): ShownList => {
  const list = new ShownList();
  list.update(entries);
  list.show();
  return list;
};

const other = (requestId: string): InboxEntry => makeEntry(requestId, { toolName: requestId });

test('requests that are alike are one row, where the first of them stands', () => {
  const entries = [other('x'), makeEntry('a'), other('y'), makeEntry('b'), makeEntry('c')];
  expect(idsOf(makeRows(entries))).toEqual([['x'], ['a', 'b', 'c'], ['y']]);
});

test.each<[what: string, entry: InboxEntry]>([
  ['of another agent', makeEntry('b', { agent: 'shop' })],
  ['of another tenant', makeEntry('b', { tenant: 'acme' })],
  ['on other terms', makeEntry('b', { request: { quorum: 2 } })],
  ['that was edited', makeEntry('b', { request: { edit: makeEdit() } })],
  ['that is decided', decide(makeEntry('b'), 'approved', 'Bo')],
  ['that the person may not approve', makeEntry('b', { rights: { mayApprove: false } })],
])('a request %s is a row of its own', (_what, entry) => {
  expect(idsOf(makeRows([makeEntry('a'), entry]))).toEqual([['a'], ['b']]);
});

function makeEdit() {
  const original = { input: {}, text: '', digest: '' };
  return { original, patches: [], at: 0 };
}

test('arrivals are counted, and change no row before they are shown', () => {
  const list = showList(other('x'), other('y'));
  const { rows } = list;
  list.update([other('new'), other('x'), other('y')]);
  expect(idsOf(list.rows)).toEqual(idsOf(rows));
  expect(list.newCount).toBe(1);
  list.show();
  expect(idsOf(list.rows)).toEqual([['new'], ['x'], ['y']]);
  expect(list.newCount).toBe(0);
});

test('a late one that is alike stays out of a row that is shown', () => {
  const list = showList(makeEntry('a'), makeEntry('b'));
  list.update([makeEntry('a'), makeEntry('b'), makeEntry('late')]);
  expect(idsOf(list.rows)).toEqual([['a', 'b']]);
});

test('what has changed changes in its place, and what has left the list stays until the list is shown anew', () => {
  const list = showList(other('x'), other('y'));
  list.update([other('y')]);
  list.replace(decide(other('x'), 'rejected', 'Bo'));
  expect(list.rows.map(({ entries }) => entries[0]?.state)).toEqual(['rejected', 'open']);
  list.show();
  expect(idsOf(list.rows)).toEqual([['y']]);
});

test('what is open keeps its place, also when it is over', () => {
  const list = showList(other('x'), other('y'), other('z'));
  list.update([other('x'), other('z')]);
  list.show('y');
  expect(idsOf(list.rows)).toEqual([['x'], ['y'], ['z']]);
});

test('a row can be split, and stays so', () => {
  const list = showList(makeEntry('a'), makeEntry('b'));
  const [row] = list.rows;
  if (row !== undefined) list.split(row);
  expect(idsOf(list.rows)).toEqual([['a'], ['b']]);
  list.show();
  expect(idsOf(list.rows)).toEqual([['a'], ['b']]);
});

const findNext = (left: string, ...rows: InboxEntry[]): string | undefined =>
  findNextRow(showList(...rows).rows, left, isWaiting)?.key;

test('after an answer comes the next in order that waits for the person', () => {
  const decided = decide(other('y'), 'approved', 'Bo');
  expect(findNext('x', other('w'), other('x'), decided, other('z'))).toBe('z');
});

test('after the last in order comes the nearest before, and never the one just answered', () => {
  expect(findNext('z', other('x'), other('y'), other('z'))).toBe('y');
  expect(findNext('x', other('x'))).toBeUndefined();
});

test('a row of several says how they ended, and how many are left', () => {
  const open = [makeEntry('a'), makeEntry('b'), makeEntry('c')];
  expect(countEnded({ key: 'a', entries: open })).toBeUndefined();
  const entries = open.map((entry, nth) => (nth < 2 ? decide(entry, 'approved', 'Bo') : entry));
  expect(countEnded({ key: 'a', entries })).toBe('2 approved, 1 left');
});

test('a row of several is called by what they all say, or else by their tool', () => {
  const same = ['a', 'b'].map((id) => makeEntry(id, { request: { text: 'Pay?' } }));
  expect(describeRow({ key: 'a', entries: same })).toBe('2 × Pay?');
  const entries = [makeEntry('a'), makeEntry('b')];
  expect(describeRow({ key: 'a', entries })).toBe('2 × send_mail');
});

test('what is open and long is cut in its title, and hostile characters in it can be seen', () => {
  const text = `Pay \u202e${'x'.repeat(400)}`;
  const title = describeRow({ key: 'a', entries: [makeEntry('a', { request: { text } })] });
  expect(title).toContain('\\u{202e}');
  expect(title.length).toBeLessThan(330);
});
