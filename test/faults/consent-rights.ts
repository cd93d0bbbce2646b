import type { Clause, Known, Said } from './consent-facts.ts';
import { demandsOf, loosely, type Teams } from './consent-firm.ts';

/** Who may answer which requests, and whose approvals are enough. */
export class Rights {
  readonly #teams: Teams;

  constructor(teams: Teams) {
    this.#teams = teams;
  }

  /** The rights in which somebody may answer a request now. */
  of(known: Known, person: string): Set<string> {
    const { approvers } = demandsOf(known.toolName, known.isEscalated);
    const may = (who: string, names: readonly string[]): boolean =>
      this.#teams.has(who, names) && !this.#isExcluded(known, who);
    const lenders = [...known.lent].filter(
      ([from, to]) => may(from, approvers) && may(person, [...to]),
    );
    return new Set([...(may(person, approvers) ? ['own'] : []), ...lenders.map(([from]) => from)]);
  }

  #isExcluded({ toolName, isEscalated, requester }: Known, person: string): boolean {
    const { notRequester } = demandsOf(toolName, isEscalated);
    return notRequester && loosely(requester) === loosely(person);
  }

  /** Notes which inputs of a call enough people have approved by now. */
  complete(known: Known): void {
    const relaxed: Clause[][] = [[], ['edits'], ['votes'], ['edits', 'votes']];
    /* Of more people than are needed, those may have decided who have later calls decided, too. */
    const remembering = known.said.filter(
      ({ remembers, rights }) => remembers && rights.has('own'),
    );
    for (const said of [known.said, remembering]) {
      for (const input of known.inputs) {
        for (const lacks of relaxed) {
          const by = this.#approvers({ ...known, said }, input, lacks);
          if (by === undefined) continue;
          known.completions.push({ input, by, lacks });
          break;
        }
      }
    }
  }

  /** The people who have approved an input, if they are enough. */
  #approvers(known: Known, input: string, lacks: readonly Clause[]): Said[] | undefined {
    const { quorum } = demandsOf(known.toolName, known.isEscalated);
    const votes = known.said
      .filter((each) =>
        each.isNamed || !each.wasEdited ? each.input === input : lacks.includes('edits'),
      )
      .map((each) => {
        if (lacks.includes('votes')) return { each, rights: new Set([`any of ${each.person}`]) };
        const now = this.of(known, each.person);
        return { each, rights: new Set([...each.rights].filter((right) => now.has(right))) };
      });
    return pickDistinct(votes, quorum);
  }
}

/** As many people as are needed, each in a right of their own or of somebody else, of whom none counts twice. */
function pickDistinct(
  votes: readonly { each: Said; rights: ReadonlySet<string> }[],
  needed: number,
  used: ReadonlySet<string> = new Set(),
  persons: ReadonlySet<string> = new Set(),
): Said[] | undefined {
  if (needed === 0) return [];
  for (const [index, { each, rights }] of votes.entries()) {
    const person = loosely(each.person);
    if (persons.has(person)) continue;
    for (const right of rights) {
      const owner = loosely(right === 'own' ? each.person : right);
      if (used.has(owner)) continue;
      const rest = pickDistinct(
        votes.slice(index + 1),
        needed - 1,
        new Set([...used, owner]),
        new Set([...persons, person]),
      );
      if (rest !== undefined) return [each, ...rest];
    }
  }
  return undefined;
}
