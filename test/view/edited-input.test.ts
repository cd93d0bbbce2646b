import { describe, expect, test } from 'vitest';
import type { ApprovalRequest } from '../../src/content/approval.ts';
import {
  type Editable,
  type EditedInput,
  type EnteredValue,
  listEditFields,
  readEdits,
  showCurrent,
} from '../../src/view/edited-input.ts';

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
/** An approval with this input, as its page was sent it. */
const ask = (asked: unknown, more: Partial<ApprovalRequest> = {}): Editable => ({
  request: { toolCall: { toolCallId: 'c1', toolName: 'pay', input: asked }, ...more },
});
const makeEditable = (more: Partial<ApprovalRequest> = {}): Editable =>
  ask(input, { editable: true, inputSchema, ...more });
const editable = makeEditable();

/** The input after these texts were entered. */
function enter(texts: Record<string, string | EnteredValue>, of = editable): EditedInput {
  const entries = Object.entries(texts).map(([name, text]): [string, EnteredValue] => [
    name,
    typeof text === 'string' ? { is: 'value', text } : text,
  ]);
  return readEdits(of, new Map(entries));
}

describe('the form of an edit', () => {
  test('has a field for each argument that may be edited, by the schema of the tool', () => {
    const kinds = listEditFields(editable).map(({ name, kind, mayBe }) => [
      name,
      kind,
      mayBe.join(),
    ]);
    expect(kinds).toEqual([
      ['to', 'text', ''],
      ['amount', 'number', ''],
      ['count', 'integer', 'absent'],
      ['urgent', 'choice', 'absent'],
      ['level', 'choice', 'absent'],
      ['lines', 'json', 'absent'],
      ['cc', 'text', 'null,absent'],
      ['bcc', 'text', 'absent'],
    ]);
    const some = listEditFields(makeEditable({ editable: ['amount', 'bcc', 'unknown'] }));
    expect(some.map(({ name }) => name)).toEqual(['amount', 'bcc']);
    expect(listEditFields(ask(input))).toEqual([]);
  });

  test('goes by the present values where there is no schema', () => {
    const kinds = listEditFields(makeEditable({ inputSchema: undefined })).map(({ kind }) => kind);
    expect(kinds).toEqual(['text', 'number', 'number', 'choice', 'text', 'json', 'json']);
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
    [{ urgent: '0' }, { urgent: true }],
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
    expect(Object.keys(Object(enter(texts).input)).slice(0, 7)).toEqual(Object.keys(input));
  });

  test('leaves out what may be left out', () => {
    const { count: _count, ...rest } = input;
    expect(enter({ count: { is: 'absent', text: '3' } }).input).toEqual(rest);
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
    [{ urgent: '2' }],
    [{ level: '9' }],
    [{ level: '' }],
    [{ lines: '[1,' }],
    [{ lines: '[90071992547409931]' }],
  ])('makes of %j no input, and says which field can’t be read', (texts) => {
    const edited = enter({ to: 'other', ...texts });
    expect(edited.faults.map(({ name }) => name)).toEqual(Object.keys(texts));
    expect('input' in edited).toBe(false);
  });

  test('makes no input of what was typed and taken back', () => {
    expect(enter({ amount: '40.5', to: 'ada@example.com' })).toEqual({ faults: [] });
  });

  test('keeps what nobody has touched as it is, digits and lines', () => {
    const digits = { id: '90071992547409931234', price: 1.1, text: 'a\r\nb', ['__proto__x']: 1 };
    const of = ask(digits, { editable: true });
    expect(JSON.stringify(enter({ price: '1.2' }, of).input)).toBe(
      JSON.stringify({ ...digits, price: 1.2 }),
    );
  });

  test('edits an input that is no object as a whole', () => {
    const of = ask([1, 2], { editable: true });
    expect(listEditFields(of)).toMatchObject([{ name: '', kind: 'json' }]);
    expect(enter({ '': '[1, 2, 3]' }, of).input).toEqual([1, 2, 3]);
  });

  test('shows a choice by its place, and a value that is none of them', () => {
    const [field] = listEditFields(makeEditable({ editable: ['level'] }));
    expect(field && showCurrent(field)).toEqual({ is: 'value', text: '0' });
  });
});
