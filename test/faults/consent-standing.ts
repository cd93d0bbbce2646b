import type { Clause, Known, Start } from './consent-facts.ts';
import { demandsOf, loosely, type Teams } from './consent-firm.ts';

/** Whether a standing approval of enough people decides a call; which rules must be ignored for it. */
export function explainByStanding(
  requests: Iterable<Known>,
  { toolName, kind, requester }: Start,
  teams: Teams,
): Clause[] | undefined {
  const { approvers, quorum, notRequester } = demandsOf(toolName, false);
  const found: Clause[][] = [];
  for (const known of requests) {
    if (known.toolName !== toolName || known.isRevoked) continue;
    for (const { input, by, lacks } of known.completions) {
      if (JSON.parse(input).kind !== kind) continue;
      const later = new Map(known.rememberedBy.map(({ person, isOwn }) => [person, isOwn]));
      const wanting = by.filter(
        ({ person, remembers }) => remembers || (quorum === 1 && later.has(person)),
      );
      const own = wanting.filter(
        ({ person, rights }) => rights.has('own') && later.get(person) !== false,
      );
      const standing = own.filter(
        ({ person }) =>
          teams.has(person, approvers) && !(notRequester && loosely(person) === loosely(requester)),
      );
      if (standing.length >= quorum) found.push(lacks);
      else if (wanting.length >= quorum) found.push([...lacks, 'lent rights']);
    }
  }
  return found.toSorted((one, other) => one.length - other.length)[0];
}
