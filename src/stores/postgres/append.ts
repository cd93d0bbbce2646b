import type { AppendedBeside, LogEnd, LogEntry, ThreadSummary } from '../../thread/thread-store.ts';
import { type GrantWork, grantTable } from '../sql/grants.ts';
import { threadTable } from '../sql/thread-rows.ts';
import type { PostgresQuery } from './pool.ts';
import { listRequestValues, selectArray, withRequests } from './request-rows.ts';

/** An append to a thread. `grants` is the work of the changes in `beside`. */
export interface Append {
  threadId: string;
  expected: LogEnd;
  entries: readonly LogEntry[];
  summary: ThreadSummary;
  beside: Omit<AppendedBeside, 'grants'> & { grants?: GrantWork };
}

/** The statement of an append, with its values. */
export function makeAppendQuery({
  threadId,
  expected,
  entries,
  summary,
  beside,
}: Append): PostgresQuery {
  const { grants, snapshot, requests } = beside;
  const isFirst = expected.revision === 0;
  const values = listThreadValues(threadId, entries, summary);
  if (!isFirst) values.push(expected.revision, expected.hash);
  if (snapshot !== undefined) values.push(snapshot);
  if (grants !== undefined) values.push(...listGrantValues(grants));
  if (requests !== undefined) values.push(...listRequestValues(requests));
  const kept = snapshot === undefined ? (grants === undefined ? 'nothing' : 'grants') : 'snapshot';
  const order = isFirst ? 'first' : 'next';
  return { ...pickStatement(order, kept, requests !== undefined), values };
}

function listThreadValues(
  threadId: string,
  entries: readonly LogEntry[],
  summary: ThreadSummary,
): unknown[] {
  const [, ...others] = threadTable.listValues(summary);
  const revisions = entries.map(({ revision }) => revision);
  const texts = entries.map(({ text }) => text);
  return [threadId, revisions, texts, ...others];
}

function listGrantValues({ used, created, at }: GrantWork): unknown[] {
  const rows = created.map((grant) => grantTable.listValues(grant));
  const columns = Array.from({ length: grantValueCount - 3 }, (_, index) =>
    rows.map((row) => row[index]),
  );
  return [used.map(({ grantId }) => grantId), used.map(({ count }) => count), at, ...columns];
}

/** A part of an append that writes in addition to the log. */
interface AppendPart {
  /** The rows that are read and locked before the thread's row. */
  before: string;
  /** The condition of the append, beside the end of the log. */
  condition?: string;
  /** The statements that write if the append is made: if `thread` has a row. */
  after: string;
}

const nothing: AppendPart = { before: '', after: '' };

/** The number of values of a standing approval. */
const grantValueCount = 11;

/*
 * Locks the grants that are used, in an order that is the same in every session, and waits for a session that is using or revoking one of
 * them: it then reads the newest rows. Nothing is written unless all of them have enough uses left.
 */
const withGrants = (first: number): AppendPart => {
  const [ids, counts, at] = [`$${first}`, `$${first + 1}`, `$${first + 2}`];
  const created = Array.from({ length: 8 }, (_, index) => `$${first + 3 + index}`);
  return {
    before: `usable as materialized (
    select grants.grant_id, uses.count, grants.uses_left
    from holdpoint_grants as grants, unnest(${ids}::text[], ${counts}::int[]) as uses (grant_id, count)
    where grants.grant_id = uses.grant_id
      and (grants.expires_at is null or grants.expires_at > ${at}::float8)
      and (grants.uses_left is null or grants.uses_left >= uses.count)
    order by grants.grant_id for update of grants
  ),`,
    condition: `(select count(*) from usable) = cardinality(${ids}::text[])`,
    after: `, used as (
    update holdpoint_grants as grants set uses_left = usable.uses_left - usable.count
    from usable, thread where grants.grant_id = usable.grant_id and usable.uses_left > usable.count and usable.count > 0
  ), used_up as (
    delete from holdpoint_grants as grants
    using usable, thread where grants.grant_id = usable.grant_id and (usable.uses_left = usable.count or usable.count = 0)
  ), created as (
    insert into holdpoint_grants (${grantTable.columns})
    select grants.* from thread, unnest(
      ${created[0]}::text[], ${created[1]}::text[], ${created[2]}::text[], ${created[3]}::text[],
      ${created[4]}::text[], ${created[5]}::float8[], ${created[6]}::float8[], ${created[7]}::bigint[]
    ) as grants
  )`,
  };
};

const withSnapshot = (first: number): AppendPart => ({
  before: '',
  after: `, snapshot as (
    insert into holdpoint_entries (thread_id, revision, entry) select thread_id, 0, $${first} from thread
    on conflict (thread_id, revision) do update set entry = excluded.entry
  )`,
});

/*
 * The thread's row is written first: a concurrent append waits for it, finds another revision, and writes nothing. It is one statement, so
 * that no lock is held between round trips, and a dropped connection leaves either all of it or nothing. If the server is configured not to
 * wait for the disk, this commit still waits.
 */
const appendAfter = (takeThread: string, { before, after }: AppendPart): string => `
  with ${before} thread as (
    ${takeThread}
    returning thread_id,
      case current_setting('synchronous_commit')
        when 'off' then set_config('synchronous_commit', 'local', true)
      end
  ) ${after}
  insert into holdpoint_entries (thread_id, revision, entry)
  select thread.thread_id, entries.revision, entries.entry
  from thread, unnest(${selectArray(2, 'int')}, ${selectArray(3, 'text')}) as entries (revision, entry)
`;

const insertThread = ({ condition }: AppendPart): string => {
  const values =
    condition === undefined
      ? 'values ($1, $4, $5, $6, $7, $8, $9, $10, $11)'
      : `select $1, $4, $5, $6::int, $7::int, $8::int, $9::float8, $10::float8, $11 where ${condition}
   `;
  return `
    insert into holdpoint_threads (${threadTable.columns})
    ${values} on conflict do nothing
  `;
};

/*
 * During a run under one lease, the row keeps its time. No indexed column changes then, so that the append writes to no index (HOT).
 * Running threads are not ordered by their last append.
 */
const updatedAt = `
      case when status = 'running' and $5 = 'running' and next_deadline is not distinct from $9
        then updated_at else $10 end`;

const updateThread = ({ condition }: AppendPart): string => `
    update holdpoint_threads
    set agent = $4, status = $5, revision = $6, open_requests = $7, failures = $8, next_deadline = $9, updated_at = ${updatedAt}, hash = $11
    where thread_id = $1 and revision = $12::int and hash = $13${condition === undefined ? '' : ` and ${condition}`}`;

type Order = 'first' | 'next';

/** The kind of writes of an append beside the log and its requests. */
type Kept = 'nothing' | 'snapshot' | 'grants';

const parts: Record<Kept, { of: (first: number) => AppendPart; valueCount: number }> = {
  nothing: { of: () => nothing, valueCount: 0 },
  snapshot: { of: withSnapshot, valueCount: 1 },
  grants: { of: withGrants, valueCount: grantValueCount },
};

const statements = new Map<string, PostgresQuery>();

/** The statement of each kind of append, always the same, so that each can be prepared. */
function pickStatement(order: Order, kept: Kept, hasRequests: boolean): PostgresQuery {
  const kind = kept === 'nothing' ? order : `${order}-${kept}`;
  const name = `holdpoint-append-${kind}${hasRequests ? '-requests' : ''}`;
  const statement = statements.get(name) ?? {
    name,
    text: writeStatement(order, kept, hasRequests),
  };
  statements.set(name, statement);
  return statement;
}

function writeStatement(order: Order, kept: Kept, hasRequests: boolean): string {
  const first = order === 'first' ? 12 : 14;
  const { of: partOf, valueCount } = parts[kept];
  const part = partOf(first);
  const after = hasRequests ? part.after + withRequests(first + valueCount) : part.after;
  const takeThread = order === 'first' ? insertThread(part) : updateThread(part);
  return appendAfter(takeThread, { ...part, after });
}
