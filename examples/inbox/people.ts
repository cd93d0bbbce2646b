import type { MayAnswer, ThreadEvent } from 'holdpoint';
import { z } from 'zod';

/** Somebody of the office, as a sign-in would give them. */
export interface Person {
  id: string;
  roles: string[];
}

/* THE DEMO'S STAND-IN FOR A SIGN-IN: the host in the address says who it is, so that one browser can show both. An app looks up a session here. */
const people = new Map<string, Person>([
  ['localhost', { id: 'ada', roles: ['clerk'] }],
  ['127.0.0.1', { id: 'bob', roles: ['manager'] }],
]);

/** The person who sent a request. */
export function personOf(request: Request): Person | undefined {
  return people.get(new URL(request.url).hostname);
}

const personSchema = z.object({ id: z.string(), roles: z.array(z.string()) });

/** Who a principal is: the same person with other roles is still the same. */
export function identify(principal: unknown): string {
  return personSchema.parse(principal).id;
}

/** Whether a principal is a manager. */
export function isManager(principal: unknown): boolean {
  return personSchema.safeParse(principal).data?.roles.includes('manager') ?? false;
}

/** A conversation is for the person who began it, and for managers, whom it may ask. */
export function mayOpen(person: Person, { events }: { events: readonly ThreadEvent[] }): boolean {
  const first = events.find((event) => event.type === 'message-added');
  if (first === undefined || isManager(person)) return true;
  return personSchema.safeParse(first.principal).data?.id === person.id;
}

/** A request that names roles is for somebody who has one of them; any other is for the person whose message led to it. */
export const mayAnswer: MayAnswer = ({ principal, request }) => {
  const person = personSchema.safeParse(principal).data;
  if (person === undefined) return false;
  const { approvers } = request.type === 'approval-request' ? request : {};
  if (approvers !== undefined) return approvers.some((role) => person.roles.includes(role));
  return personSchema.safeParse(request.requestedBy).data?.id === person.id;
};
