import { z } from 'zod';
import type { ModelStep } from '../../demo-language-model.ts';
import { readMail } from './read-mail.ts';
import type { Result, Task } from './read-task.ts';
import { fileSchema, type Invoice, invoiceSchema } from './records.ts';

/** A task that the assistant knows how to do. */
export interface Errand {
  /** The label under which it is offered. */
  title: string;
  /** Matches a word that asks for it. */
  keyword: RegExp;
  /** The model's next step, given the results so far. */
  next: (task: Task) => ModelStep;
}

/** The first errand whose keyword matches is done. */
export const errands: readonly Errand[] = [
  { title: 'Write a mail', keyword: /\b(mail|write|tell)\b/i, next: writeMail },
  { title: 'Pay the open invoices', keyword: /\b(pay|invoices?|bills?)\b/i, next: payInvoices },
  { title: 'Delete old backups', keyword: /\b(delete|clean|backups?|files?)\b/i, next: cleanUp },
  { title: 'Plan a team lunch', keyword: /\b(plan|team|lunch)\b/i, next: planLunch },
];

/** The reply to a message that asks for something else. */
export const whatIDo = `I can: ${errands.map(({ title }) => title.toLowerCase()).join(', ')}.`;

function payInvoices({ wish, results: [listed, ...paid] }: Task): ModelStep {
  if (listed === undefined) return { text: 'Let me see.', ...call('listInvoices', {}) };
  if (paid.length > 0) return { text: paid.map(sayPaid).join('\n') };
  const open = z.array(invoiceSchema).catch([]).parse(listed.value);
  const named = open.filter(({ invoice }) => wish.includes(invoice));
  const wanted = named.length > 0 ? named : open;
  const what = wanted.length === 1 ? 'One invoice is' : `${wanted.length} invoices are`;
  return {
    text: `${what} open. I pay what you approve.`,
    calls: wanted.map((input) => ({ toolName: 'payInvoice', input })),
  };
}

function sayPaid(result: Result): string {
  const { payee }: Partial<Invoice> = invoiceSchema.safeParse(result.input).data ?? {};
  return say(result, { done: `Paid: ${payee}`, not: `Not paid: ${payee}` });
}

function cleanUp({ results: [listed, picked, deleted] }: Task): ModelStep {
  if (listed === undefined)
    return { text: 'Let me check the backups.', ...call('listBackups', {}) };
  const backups = z.array(fileSchema).catch([]).parse(listed.value);
  if (picked === undefined) {
    const files = backups.map(({ path, megabytes }) => [path, `${megabytes} MB`] as const);
    const asked = question('Backups', 'Which backups can go?', files);
    return call('AskUserQuestion', { questions: [{ ...asked, multiSelect: true }] });
  }
  if (deleted === undefined) {
    const { Backups = '' } = z.object({ Backups: z.string() }).partial().parse(picked.value);
    return call('deleteFiles', { paths: Backups.split(', ') });
  }
  return { text: say(deleted, { done: 'The backups are deleted', not: 'Nothing was deleted' }) };
}

const lunchSchema = z.object({ Day: z.string(), Place: z.string(), Diets: z.string() }).partial();

function planLunch({ results: [answered, sent] }: Task): ModelStep {
  if (answered === undefined) {
    return { text: 'Gladly. Three questions first.', ...call('AskUserQuestion', lunchQuestions) };
  }
  if (sent === undefined) {
    const { Day, Place, Diets } = lunchSchema.parse(answered.value);
    const body = `Dear all,\n\nlunch is on ${Day}: ${Place}. There will be something for: ${Diets}.`;
    const mail = { to: 'team@office.example', subject: `Lunch on ${Day}`, body };
    return { text: 'This is the mail to the team.', ...call('sendMail', mail) };
  }
  return { text: say(sent, { done: 'The team is informed', not: 'The team was not informed' }) };
}

const menu = question('Diets', 'What has to be on the menu?', [
  ['vegetarians', 'No meat, no fish'],
  ['vegans', 'No animal products'],
  ['everybody else', 'Anything'],
]);
const lunchQuestions = {
  questions: [
    question('Day', 'On which day?', [
      ['Thursday', 'Everybody is in the office'],
      ['Friday', 'Two are away'],
    ]),
    question('Place', 'Where?', [
      ['Café Morgenrot', 'Around the corner, about 15 EUR each'],
      ['In our kitchen', 'Delivered, about 12 EUR each'],
      ['A picnic', 'If the weather is good'],
    ]),
    { ...menu, multiSelect: true },
  ],
};

function writeMail({ wish, results }: Task): ModelStep {
  const { to, body: given } = readMail(wish);
  const answer = results.find(({ toolName }) => toolName === 'askForText');
  const body = given ?? answer?.value;
  if (body === undefined) {
    return call('askForText', { question: `What shall I write to ${to}?` });
  }
  if (typeof body !== 'string' || body === '') return { text: 'Then I will not write a mail.' };
  const sent = results.find(({ toolName }) => toolName === 'sendMail');
  if (sent === undefined) {
    const subject = body.split(/[\n.!?]/)[0]?.slice(0, 60) ?? '';
    return { text: 'This is the mail.', ...call('sendMail', { to, subject, body }) };
  }
  return { text: say(sent, { done: 'The mail is sent', not: 'The mail was not sent' }) };
}

/** A question to a person, with options and their descriptions. */
function question(
  header: string,
  text: string,
  picks: readonly (readonly [label: string, description: string])[],
) {
  const options = picks.map(([label, description]) => ({ label, description }));
  return { question: text, header, options };
}

function call(toolName: string, input: object): Pick<ModelStep, 'calls'> {
  return { calls: [{ toolName, input }] };
}

function say({ status, value }: Result, { done, not }: { done: string; not: string }): string {
  const why = typeof value === 'string' ? value : '';
  if (status === 'failed') return `${not}: ${why}`;
  if (status === 'denied') return why === '' ? `${not}.` : `${not}. You said: ${why}`;
  return `${done} (${z.object({ receipt: z.string() }).parse(value).receipt}).`;
}
