import { describe, expect, test } from 'vitest';
import { type ApprovalRequest, approvalResponseSchema } from '../../src/content/approval.ts';
import { type QuestionField, questionResponseSchema } from '../../src/content/question.ts';
import {
  type AnswerDraft,
  type AskedApproval,
  type FormField,
  isFilledIn,
  listInputFields,
  listQuestionFields,
  listTyped,
  type MadeAnswer,
  makeApprovalAnswer,
  makeDismissalAnswer,
  makeQuestionAnswer,
  makeReasonField,
  makeRejectionAnswer,
  makeRememberField,
  placeFault,
} from '../../src/view/answer-form.ts';

const widest = { scope: 'thread', match: 'any' } as const;

/** An approval of a payment that may be edited, and its person. */
function ask(
  more: Partial<ApprovalRequest> = {},
  rights: Partial<AskedApproval['rights']> = {},
): AskedApproval {
  const request: ApprovalRequest = {
    type: 'approval-request',
    requestId: 'r',
    threadId: 't',
    text: 'Pay?',
    toolCall: { toolCallId: 'c', toolName: 'pay', input: { to: 'ACME', euros: 5, note: 'due' } },
    inputSchema: {
      required: ['to', 'euros'],
      properties: {
        to: { type: 'string' },
        euros: { type: 'number' },
        note: { type: ['string', 'null'] },
        when: { enum: ['now', 'later'] },
      },
    },
    editable: true,
    digest: 'd',
    createdAt: 1,
    ...more,
  };
  return {
    request,
    digest: request.digest,
    rights: { mayApprove: true, mayEdit: true, mayRemember: widest, ...rights },
  };
}

const question = (...fields: Partial<QuestionField>[]) => ({
  type: 'question-request' as const,
  kind: 'form' as const,
  requestId: 'q',
  threadId: 't',
  text: 'Where to sit?',
  fields: fields.map((field, place) => ({
    key: `f${place}`,
    label: `Field ${place}`,
    options: ['a', 'b', 'c'].map((id) => ({ id, label: id.toUpperCase() })),
    min: 1,
    max: 1,
    freeText: 'never' as const,
    ...field,
  })),
  allowDismiss: true,
  createdAt: 1,
});

/** The response; throws for one that has something to correct, or that no schema takes. */
function readResponse(made: MadeAnswer) {
  if (made.type === 'faulty') throw new Error(made.faults.map(({ text }) => text).join());
  const { response } = made;
  return response.type === 'approval-response'
    ? approvalResponseSchema.parse(response)
    : questionResponseSchema.parse(response);
}

const findField = (asked: AskedApproval, draft: AnswerDraft, label: string): FormField => {
  const found = listInputFields(asked, draft).find((field) => field.label === label);
  if (found === undefined) throw new Error(`There is no field ${label}.`);
  return found;
};

const write = (asked: AskedApproval, draft: AnswerDraft, label: string, text: string) =>
  findField(asked, draft, label).text?.write(text)(draft) ?? draft;

const pick = (asked: AskedApproval, draft: AnswerDraft, label: string, id: string, is = true) =>
  findField(asked, draft, label)
    .options.find((each) => each.id === id)
    ?.pick(is)(draft) ?? draft;

const tick = (asked: AskedApproval, draft: AnswerDraft = {}): AnswerDraft =>
  makeRememberField(asked, draft)?.options[0]?.pick(true)(draft) ?? draft;

describe('an approval', () => {
  test('names what was shown by its digest, and repeats nothing of the call', () => {
    const response = readResponse(makeApprovalAnswer(ask(), { reason: '  ' }));
    const approval = { type: 'approval-response', requestId: 'r', approved: true, digest: 'd' };
    expect(response).toEqual(approval);
  });

  test('that needs a reason lacks one until it is typed, and is not sent before', () => {
    const asked = ask({ requireReason: true });
    const made = makeApprovalAnswer(asked, { reason: ' \n' });
    const { key, text } = makeReasonField(asked, {});
    expect(made).toMatchObject({ type: 'faulty', faults: [{ key }] });
    const draft = text.write('It is due.')({});
    expect(readResponse(makeApprovalAnswer(asked, draft))).toMatchObject({ reason: 'It is due.' });
  });

  test('has the whole edited input, with the types of the tool', () => {
    const asked = ask();
    const draft = pick(asked, write(asked, {}, 'euros', '4.50'), 'when', '1');
    expect(readResponse(makeApprovalAnswer(asked, draft))).toMatchObject({
      input: { to: 'ACME', euros: 4.5, note: 'due', when: 'later' },
    });
  });

  test('is not sent while an entry can’t be read, and its field says why', () => {
    const asked = ask();
    const draft = write(asked, {}, 'euros', 'a few');
    const { key, fault } = findField(asked, draft, 'euros');
    expect(fault).toBe('Write a number, such as 12.50.');
    expect(makeApprovalAnswer(asked, draft)).toEqual({
      type: 'faulty',
      faults: [{ key, text: fault }],
    });
  });

  test.each(['90071992547409931', '1e999', '0x10'])(
    'is not sent with %s, which no number keeps',
    (text) => {
      const asked = ask();
      expect(makeApprovalAnswer(asked, write(asked, {}, 'euros', text)).type).toBe('faulty');
    },
  );

  test.each([
    ['the person may not edit', { mayEdit: false }],
    ['the person may not approve', { mayApprove: false }],
  ])('has no fields where %s, and is not sent with what was entered before', (_why, rights) => {
    const draft = write(ask(), {}, 'to', 'Zenith');
    const asked = ask({}, rights);
    expect(listInputFields(asked, draft)).toEqual([]);
    expect(makeApprovalAnswer(asked, draft)).toEqual({
      type: 'faulty',
      faults: [{ text: 'You may no longer edit this. Nothing was sent.' }],
    });
    expect(readResponse(makeApprovalAnswer(asked, {}))).not.toHaveProperty('input');
  });

  test('is not sent with an entry whose argument may not be edited any more', () => {
    const draft = write(ask(), {}, 'to', 'Zenith');
    expect(makeApprovalAnswer(ask({ editable: ['euros'] }), draft).type).toBe('faulty');
    expect(makeApprovalAnswer({ ...ask(), masked: [['to']] }, draft).type).toBe('faulty');
  });

  test('has no field for what is masked', () => {
    const labels = listInputFields({ ...ask(), masked: [['note']] }, {}).map(({ label }) => label);
    expect(labels).toEqual(['to', 'euros', 'when']);
  });
});

describe('a field of the input', () => {
  test('that may be left out or null has a box for each, one of which is ticked', () => {
    const asked = ask();
    let draft = pick(asked, {}, 'note', 'absent');
    expect(readResponse(makeApprovalAnswer(asked, draft))).toMatchObject({
      input: { to: 'ACME', euros: 5 },
    });
    draft = pick(asked, draft, 'note', 'null');
    const { options, text } = findField(asked, draft, 'note');
    expect(options.map(({ id, isPicked }) => [id, isPicked])).toEqual([
      ['null', true],
      ['absent', false],
    ]);
    expect(text?.value).toBe('');
    expect(readResponse(makeApprovalAnswer(asked, draft))).toMatchObject({ input: { note: null } });
  });

  test('has its text again once it is unticked, and is unticked by typing', () => {
    const asked = ask();
    const typed = write(asked, {}, 'note', 'overdue');
    const left = pick(asked, typed, 'note', 'absent');
    expect(findField(asked, pick(asked, left, 'note', 'absent', false), 'note').text?.value).toBe(
      'overdue',
    );
    const again = write(asked, left, 'note', 'paid');
    expect(findField(asked, again, 'note').options.some(({ isPicked }) => isPicked)).toBe(false);
    expect(readResponse(makeApprovalAnswer(asked, again))).toMatchObject({
      input: { note: 'paid' },
    });
  });

  test.each([
    ['erased', 'x', (asked: AskedApproval, draft: AnswerDraft) => write(asked, draft, 'cc', '')],
    [
      'not typed into',
      '',
      (asked: AskedApproval, draft: AnswerDraft) => pick(asked, draft, 'cc', 'absent', false),
    ],
  ])('that was left out is left out again once it is %s', (_how, text, change) => {
    const asked = ask({ inputSchema: { properties: { cc: { type: 'string' } } } });
    const draft = change(asked, write(asked, {}, 'cc', text));
    const { options } = findField(asked, draft, 'cc');
    expect(options.map(({ id, isPicked }) => [id, isPicked])).toEqual([['absent', true]]);
    expect(readResponse(makeApprovalAnswer(asked, draft))).not.toHaveProperty('input');
  });

  test('keeps what is entered in another one before the page is drawn again', () => {
    const asked = ask();
    const [to, euros] = listInputFields(asked, {});
    const first = to?.text?.write('Zenith')({}) ?? {};
    const both = euros?.text?.write('6')(first) ?? {};
    expect(readResponse(makeApprovalAnswer(asked, both))).toMatchObject({
      input: { to: 'Zenith', euros: 6 },
    });
  });
});

describe('a standing approval', () => {
  test('is asked for by an answer once it is ticked, and by no other', () => {
    const asked = ask();
    expect(readResponse(makeApprovalAnswer(asked, {}))).not.toHaveProperty('remember');
    const draft = tick(asked);
    expect(readResponse(makeApprovalAnswer(asked, draft))).toMatchObject({ remember: widest });
    expect(readResponse(makeRejectionAnswer(asked, draft))).toMatchObject({ remember: widest });
  });

  test.each([
    ['what is asked is something else', ask({ digest: 'another' })],
    ['it would be a wider one', ask({}, { mayRemember: { scope: 'everyone', match: 'any' } })],
    ['the person may no longer', ask({}, { mayRemember: undefined })],
  ])('is not ticked any more once %s', (_what, now) => {
    const draft = tick(ask());
    expect(makeRememberField(now, draft)?.options[0]?.isPicked ?? false).toBe(false);
    expect(readResponse(makeApprovalAnswer(now, draft))).not.toHaveProperty('remember');
  });

  test('can’t reject later calls where several must approve', () => {
    const asked = ask({ quorum: 2 });
    expect(makeRememberField(asked, {})?.options[0]?.label).toMatch(/^If approved, also approve/);
    expect(readResponse(makeRejectionAnswer(asked, tick(asked)))).not.toHaveProperty('remember');
  });
});

describe('the answer to a question', () => {
  test('has what was picked and typed, and nothing that was only suggested', () => {
    const asked = question(
      { preselected: ['a'] },
      { max: 3 },
      { options: [], max: 0, freeText: 'only' },
    );
    const draft = ['1b', '2c', '2a'].reduce<AnswerDraft>((before, [place = '', id]) => {
      const field = listQuestionFields(asked, before)[Number(place) - 1];
      return field?.options.find((each) => each.id === id)?.pick(true)(before) ?? before;
    }, {});
    const [first, , last] = listQuestionFields(asked, draft);
    expect(first?.options.map(({ label, isPicked }) => [label, isPicked])).toEqual([
      ['A (suggested)', false],
      ['B', true],
      ['C', false],
    ]);
    const typed = last?.text?.write(' By the window ')(draft) ?? {};
    expect(readResponse(makeQuestionAnswer(asked, typed))).toMatchObject({
      answers: [
        { key: 'f0', optionIds: ['b'] },
        { key: 'f1', optionIds: ['c', 'a'] },
        { key: 'f2', optionIds: [], text: 'By the window' },
      ],
    });
    expect(readResponse(makeDismissalAnswer(asked))).toMatchObject({ status: 'dismissed' });
  });

  test('is not sent while it lacks something, and names the field', () => {
    expect(makeQuestionAnswer(question({}, {}), {})).toEqual({
      type: 'faulty',
      faults: [{ key: 'f0', text: 'Field 0 needs at least 1 option(s).' }],
    });
    const seats = {
      options: [],
      max: 0,
      freeText: 'only' as const,
      schema: { type: 'integer' as const },
    };
    const picks = new Map([['f0', { optionIds: [], text: 'many' }]]);
    expect(makeQuestionAnswer(question(seats), { picks })).toMatchObject({
      faults: [{ text: 'Field 0 must be an integer.' }],
    });
  });

  test('has a field of its name where there is nothing to pick, though no text is needed', () => {
    const bare = { options: [], min: 0, max: 0, freeText: 'optional' as const };
    const [only, beside] = listQuestionFields(question(bare, { freeText: 'optional' }), {});
    expect(only?.text?.label).toBe('Field 0');
    expect(beside?.text?.label).toBe('In your own words');
  });

  test('that takes only text offers nothing to pick, and says what text it takes', () => {
    const seats = { freeText: 'only' as const, schema: { type: 'integer' as const } };
    const [field] = listQuestionFields(question(seats), {});
    expect(field).toMatchObject({ options: [], text: { label: 'Field 0 (an integer)' } });
  });

  test('of one pick takes the last, and takes it back', () => {
    const asked = question({});
    const [field] = listQuestionFields(asked, {});
    const [a, b] = field?.options ?? [];
    const draft = b?.pick(true)(a?.pick(true)({}) ?? {}) ?? {};
    expect(draft.picks?.get('f0')?.optionIds).toEqual(['b']);
    expect(b?.pick(false)(draft).picks?.get('f0')?.optionIds).toEqual([]);
  });
});

describe('a refusal', () => {
  const text = 'It was refused.';
  test.each([
    ['an argument', ask().request, ['euros'], { key: 'input.euros', text: 'must be less' }],
    [
      'a place in one',
      ask().request,
      ['to', 'name'],
      { key: 'input.to', text: 'name: must be less' },
    ],
    ['no argument', ask().request, ['what'], { text: `${text} must be less` }],
    ['nothing', ask().request, undefined, { text: `${text} must be less` }],
    ['a field', question({}), ['f0'], { key: 'f0', text: 'Field 0 must be less.' }],
  ])('that blames %s is shown there', (_what, request, field, fault) => {
    expect(placeFault(request, { field, reason: 'must be less', text })).toEqual(fault);
  });

  test('that is a sentence ends once', () => {
    const fault = placeFault(question({}), { field: ['f0'], reason: 'must be less.', text });
    expect(fault.text).toBe('Field 0 must be less.');
  });
});

test('what was entered counts as filled in, an emptied field too', () => {
  const asked = ask();
  expect(isFilledIn({})).toBe(false);
  for (const draft of [write(asked, {}, 'to', ''), tick(asked), { reason: 'x' }])
    expect(isFilledIn(draft)).toBe(true);
});

test('what was typed is listed, also in a field that was left out since, and no choice is', () => {
  const asked = ask();
  const typed = write(asked, write(asked, {}, 'to', 'Zenith'), 'note', 'overdue');
  const draft = pick(asked, pick(asked, typed, 'note', 'absent'), 'when', '1');
  expect(listTyped(asked.request, { ...draft, reason: 'Nicer' })).toEqual([
    'Zenith',
    'overdue',
    'Nicer',
  ]);
});
