import { describe, expect, test } from 'vitest';
import {
  type EditDraft,
  enterValue,
  type EnteredValue,
  listEditFields,
  readEditDraft,
  showCurrent,
} from '../../src/channels/inbox/page/edit-draft.ts';
import type { ApprovalRequest } from '../../src/content/approval.ts';
import { makeEntry } from './inbox-entries.ts';

const input = {
  to: 'ada@example.com',
  amount: 40.5,
  count: 3,
  urgent: false,
  level: 'low',
  lines: [{ sku: 'A1' }],
  cc: null,
};
const inputSchema = {
  type: 'object',
  required: ['to', 'amount'],
  properties: {
    to: { type: 'string', description: 'Who gets it' },
    amount: { type: 'number' },
    count: { type: 'integer' },
    urgent: { type: 'boolean' },
    level: { $ref: '#/$defs/level' },
    lines: { type: 'array' },
    cc: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    bcc: { type: 'string' },
  },
  $defs: { level: { enum: ['low', 'high', 7] } },
};
const makeEditable = (more: Partial<ApprovalRequest> = {}) =>
  makeEntry(input, { request: { editable: true, inputSchema, ...more } });
const entry = makeEditable();

/** The draft after these texts were entered, one after the other. */
function enter(texts: Record<string, string | EnteredValue>, of = entry): EditDraft | undefined {
  let draft: EditDraft | undefined;
  for (const [name, text] of Object.entries(texts)) {
    const entered = typeof text === 'string' ? { is: 'value' as const, text } : text;
    draft = enterValue(of, draft, { name, entered });
  }
  return draft;
}

describe('the form of an edit', () => {
  test('has a field for each argument that may be edited, by the schema of the tool', () => {
    const kinds = listEditFields(entry).map(({ name, kind, mayBe }) => [name, kind, mayBe.join()]);
    expect(kinds).toEqual([
      ['to', 'text', ''],
      ['amount', 'number', ''],
      ['count', 'integer', 'absent'],
      ['urgent', 'boolean', 'absent'],
      ['level', 'choice', 'absent'],
      ['lines', 'json', 'absent'],
      ['cc', 'text', 'null,absent'],
      ['bcc', 'text', 'absent'],
    ]);
    const some = listEditFields(makeEditable({ editable: ['amount', 'bcc', 'unknown'] }));
    expect(some.map(({ name }) => name)).toEqual(['amount', 'bcc']);
    expect(listEditFields(makeEntry(input))).toEqual([]);
  });

  test('goes by the present values where there is no schema', () => {
    const kinds = listEditFields(makeEditable({ inputSchema: undefined })).map(({ kind }) => kind);
    expect(kinds).toEqual(['text', 'number', 'number', 'boolean', 'text', 'json', 'json']);
  });

  test('has no field for what is masked', () => {
    const masked = { ...makeEditable(), masked: [['to']] };
    expect(listEditFields(masked).map(({ name }) => name)).not.toContain('to');
  });

  test.each<[Record<string, string | EnteredValue>, object]>([
    [{ amount: '41' }, { amount: 41 }],
    [{ amount: '-0.50' }, { amount: -0.5 }],
    [{ to: '41' }, { to: '41' }],
    [{ to: '' }, { to: '' }],
    [{ urgent: 'true' }, { urgent: true }],
    [{ level: '1' }, { level: 'high' }],
    [{ level: '2' }, { level: 7 }],
    [{ lines: '[{"sku":"B2","n":1}]' }, { lines: [{ sku: 'B2', n: 1 }] }],
    [{ cc: 'x' }, { cc: 'x' }],
    [
      { bcc: 'y', amount: '1' },
      { bcc: 'y', amount: 1 },
    ],
  ])('makes of %j an input that differs by %j', (texts, change) => {
    expect(enter(texts)).toMatchObject({ input: { ...input, ...change }, faults: [] });
    expect(Object.keys(Object(enter(texts)?.input)).slice(0, 7)).toEqual(Object.keys(input));
  });

  test('leaves out what may be left out', () => {
    const { count: _count, ...rest } = input;
    expect(enter({ count: { is: 'absent', text: '3' } })?.input).toEqual(rest);
  });

  test.each([
    [{ amount: '' }],
    [{ amount: '1,5' }],
    [{ amount: '0x10' }],
    [{ amount: 'NaN' }],
    [{ amount: '1e999' }],
    [{ count: '1.5' }],
    [{ count: '90071992547409931' }],
    [{ urgent: 'yes' }],
    [{ level: '9' }],
    [{ level: '' }],
    [{ lines: '[1,' }],
    [{ lines: '[90071992547409931]' }],
  ])('makes of %j no input, and keeps what was entered', (texts) => {
    const draft = enter({ to: 'other', ...texts });
    expect(draft?.faults).toEqual(Object.keys(texts));
    expect(draft && 'input' in draft).toBe(false);
    expect(draft?.entered.get('to')?.text).toBe('other');
  });

  test('makes no input of what was typed and taken back', () => {
    const draft = enter({ amount: '40.5', to: 'ada@example.com' });
    expect(draft).toMatchObject({ faults: [] });
    expect(draft && 'input' in draft).toBe(false);
  });

  test('keeps what nobody has touched as it is, digits and lines', () => {
    const digits = { id: '90071992547409931234', price: 1.1, text: 'a\r\nb', ['__proto__x']: 1 };
    const of = makeEntry(digits, { request: { editable: true } });
    expect(JSON.stringify(enter({ price: '1.2' }, of)?.input)).toBe(
      JSON.stringify({ ...digits, price: 1.2 }),
    );
  });

  test('edits an input that is no object as a whole', () => {
    const of = makeEntry([1, 2], { request: { editable: true } });
    expect(listEditFields(of)).toMatchObject([{ name: '', kind: 'json' }]);
    expect(enter({ '': '[1, 2, 3]' }, of)?.input).toEqual([1, 2, 3]);
  });

  test('takes no other draft than its own', () => {
    const draft = enter({ amount: '41' });
    expect(readEditDraft(draft)).toBe(draft);
    for (const other of [undefined, null, 'x', {}, { entered: {}, faults: [] }])
      expect(readEditDraft(other)).toBe(undefined);
  });

  test('shows a choice by its place, and a value that is none of them', () => {
    const [field] = listEditFields(makeEditable({ editable: ['level'] }));
    expect(field && showCurrent(field)).toEqual({ is: 'value', text: '0' });
  });
});
