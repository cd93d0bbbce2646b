import { z } from 'zod';
import type { Turn } from '../../demo-language-model.ts';
import { readMail } from './read-mail.ts';
import type { Result, Task } from './read-task.ts';
import { fileSchema, type Invoice, invoiceSchema } from './records.ts';

/** Something that the assistant knows how to do. */
export interface Errand {
  /** How it is offered. */
  title: string;
  /** A word of a wish for it. */
  keyword: RegExp;
  /** The next turn, by what was done so far. */
  next: (task: Task) => Turn;
}

/** The first whose keyword is in a wish is done. */
export const errands: readonly Errand[] = [
  { title: 'Write a mail', keyword: /\b(mail|write|tell)\b/i, next: writeMail },
  { title: 'Pay the open invoices', keyword: /\b(pay|invoices?|bills?)\b/i, next: payInvoices },
  { title: 'Delete old backups', keyword: /\b(delete|clean|backups?|files?)\b/i, next: cleanUp },
  { title: 'Plan a team lunch', keyword: /\b(plan|team|lunch)\b/i, next: planLunch },
];

/** What to say to somebody who asks for something else. */
export const whatIDo = `I can: ${errands.map(({ title }) => title.toLowerCase()).join(', ')}.`;

function payInvoices({ wish, results: [listed, ...paid] }: Task): Turn {
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

function cleanUp({ results: [listed, picked, deleted] }: Task): Turn {
  if (listed === undefined) return { text: 'I look at the backups.', ...call('listBackups', {}) };
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
  return { text: say(deleted, { done: 'They are deleted', not: 'Nothing was deleted' }) };
}

const lunchSchema = z.object({ Day: z.string(), Place: z.string(), Diets: z.string() }).partial();

function planLunch({ results: [answered, sent] }: Task): Turn {
  if (answered === undefined) {
    return { text: 'Gladly. Three questions first.', ...call('AskUserQuestion', lunchQuestions) };
  }
  if (sent === undefined) {
    const { Day, Place, Diets } = lunchSchema.parse(answered.value);
    const body = `Dear all,\n\nlunch is on ${Day}: ${Place}. There will be something for: ${Diets}.`;
    const mail = { to: 'team@office.example', subject: `Lunch on ${Day}`, body };
    return { text: 'Then I would write to the team.', ...call('sendMail', mail) };
  }
  return { text: say(sent, { done: 'The team knows', not: 'Nobody was told' }) };
}

const menu = question('Diets', 'What has to be on the menu?', [
  ['vegetarians', 'No meat, no fish'],
  ['vegans', 'Nothing of animals'],
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

function writeMail({ wish, results }: Task): Turn {
  const { to, body: given } = readMail(wish);
  const answer = results.find(({ toolName }) => toolName === 'askForText');
  const body = given ?? answer?.value;
  if (body === undefined) {
    return call('askForText', { question: `What shall I write to ${to}?` });
  }
  if (typeof body !== 'string' || body === '') return { text: 'Then I write nothing.' };
  const sent = results.find(({ toolName }) => toolName === 'sendMail');
  if (sent === undefined) {
    const subject = body.split(/[\n.!?]/)[0]?.slice(0, 60) ?? '';
    return { text: 'I have written it down.', ...call('sendMail', { to, subject, body }) };
  }
  return { text: say(sent, { done: 'The mail is sent', not: 'The mail was not sent' }) };
}

/** A question to a person, with what they may pick and what is to be said of it. */
function question(
  header: string,
  text: string,
  picks: readonly (readonly [label: string, description: string])[],
) {
  const options = picks.map(([label, description]) => ({ label, description }));
  return { question: text, header, options };
}

function call(toolName: string, input: object): Pick<Turn, 'calls'> {
  return { calls: [{ toolName, input }] };
}

function say({ status, value }: Result, { done, not }: { done: string; not: string }): string {
  const why = typeof value === 'string' ? value : '';
  if (status === 'failed') return `${not}: ${why}`;
  if (status === 'denied') return why === '' ? `${not}.` : `${not}. You said: ${why}`;
  return `${done} (${z.object({ receipt: z.string() }).parse(value).receipt}).`;
}
