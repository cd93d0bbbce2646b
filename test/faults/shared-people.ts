import type { UserApproval } from 'holdpoint';
import { z } from 'zod';

/** Who people really are. Nothing of holdpoint knows it: the app's directory does. */
export const personNames = ['ada', 'ben', 'cleo', 'jo', 'eve', 'kim of a', 'kim of b'] as const;
export type Person = (typeof personNames)[number];

/** What the sign-in says of each person: one person may come in several spellings, and two may share an id. */
export const spellings: Readonly<Record<Person, readonly unknown[]>> = {
  ada: ['ada@x', 'Ada@X', 'ada@x ', 'ada\u200B@x', 'ａｄａ@x'],
  ben: ['ben@x', 'BEN@x'],
  cleo: ['cleo@x'],
  jo: ['jo@x', ' jo@x'],
  eve: ['eve@x'],
  'kim of a': [{ iss: 'a', sub: 1 }],
  'kim of b': [{ iss: 'b', sub: 1 }],
};

/** Who has signed in with this. */
export function whoIs(principal: unknown): Person | undefined {
  const form = JSON.stringify(principal);
  return personNames.find((person) =>
    spellings[person].some((each) => JSON.stringify(each) === form),
  );
}

/** What the app's directory says of a person. */
export function roleOf(person: Person | undefined): 'admin' | 'user' {
  return person === 'ada' || person === 'cleo' ? 'admin' : 'user';
}

/** What the tools of the office take. */
export const paymentSchema = z.strictObject({ to: z.string(), euros: z.number() });
export type Payment = z.infer<typeof paymentSchema>;

/** Whether a person may say yes to a payment: Eve to none, and Jo only to small ones. */
export function isEntitled(person: Person, input: unknown): boolean {
  const payment = paymentSchema.safeParse(input);
  if (!payment.success || person === 'eve') return false;
  return person !== 'jo' || payment.data.euros <= 100;
}

const text = ({ to, euros }: Payment): string => `Pay ${euros} EUR to ${to}?`;

/** What each tool's rule demands. */
export const demands = {
  pay: { type: 'user-approval', text, quorum: 2, notRequester: true, editable: ['euros'] },
  refund: { type: 'user-approval', text, approvers: ['staff'], editable: true },
  wire: { type: 'user-approval', text, approvers: ['staff'], notRequester: true },
  post: {
    type: 'user-approval',
    text,
    approvers: ['staff'],
    remember: { scope: 'principal', match: 'any' },
  },
  note: { type: 'user-approval', text },
  bonus: { type: 'user-approval', text, editable: true },
  gift: { type: 'user-approval', text },
} satisfies Record<string, UserApproval<Payment>>;
export const toolNames = ['pay', 'refund', 'wire', 'post', 'note', 'bonus', 'gift'] as const;

/** Whether a call runs unasked, by who asked for it: a bonus for admins, and a gift for Cleo. */
export function runsUnasked(
  toolName: string,
  requesters: readonly (Person | undefined)[],
): boolean {
  if (requesters.length === 0) return false;
  if (toolName === 'bonus') return requesters.every((each) => roleOf(each) === 'admin');
  return toolName === 'gift' && requesters.every((each) => each === 'cleo');
}

/** How a deployment may say who is the same person: not at all, by the address, or by another system's number. */
export const identities: readonly (((principal: unknown) => string) | undefined)[] = [
  undefined,
  (principal) => `mail:${whoIs(principal)}`,
  (principal) => `number:${personNames.findIndex((person) => person === whoIs(principal))}`,
];
