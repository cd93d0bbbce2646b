import type { ComponentChildren } from 'preact';
import { describeDeadlineAction } from '../../../content/deadline-action.ts';
import { inertLine, inertName } from '../../../content/inert-text.ts';
import { describeStart } from '../../../content/request-text.ts';
import type { RequestPath } from '../../../content/tool-call.ts';
import type { ApprovalRequest } from '../../../content/approval.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { Address } from './address.tsx';
import { Value, ValuesOf } from './arguments.tsx';
import { isSameJson } from './compare-values.ts';
import { Inert } from './inert.tsx';
import { Field } from './reading.tsx';
import { Time } from './relative.tsx';
import { describeAskers, describeRights, pickApproval, stateWords } from './request-words.ts';

/**
 * Who asks, for whom, since when and until when, who has voted how, and what the person who reads may do. Of several requests, what is the
 * same in all of them.
 */
export function AskerFacts({ entries }: { entries: readonly InboxEntry[] }) {
  const [entry] = entries;
  if (entry === undefined) return null;
  const { agent, tenant, createdAt, expiresAt, claim, sourceUrl, request } = entry;
  const approval = pickApproval(entry);
  const isSame = (read: (each: InboxEntry) => unknown): boolean =>
    entries.every((each) => isSameJson(read(each), read(entry)));
  const latest = Math.max(...entries.map((each) => each.createdAt));
  const isOne = entries.length === 1;
  return (
    <section>
      <h3>Who asks, and until when</h3>
      <Field name="facts" label="who asks, and until when">
        <dl className="rows facts">
          {isSame((each) => each.agent) && (
            <Fact name="Agent">{agent !== null && inertLine(agent)}</Fact>
          )}
          {isSame((each) => each.request?.path) && (
            <Fact name="Through">{request?.path && renderAgents(request.path)}</Fact>
          )}
          {isSame(describeAskers) && <Fact name="For">{describeAskers(entry)}</Fact>}
          {isSame((each) => each.tenant) && (
            <Fact name="Tenant">{tenant !== null && inertLine(tenant)}</Fact>
          )}
          <Fact name="Since">
            <Time at={Math.min(...entries.map((each) => each.createdAt))} />
            {latest !== createdAt && !isOne && (
              <>
                , the latest <Time at={latest} />
              </>
            )}
          </Fact>
          {isSame((each) => each.expiresAt) && (
            <Fact name="Until">
              {expiresAt !== undefined && (
                <>
                  <Time at={expiresAt} />
                  {approval && isSame(describeEnd) && `, then ${describeEnd(entry)}`}
                </>
              )}
            </Fact>
          )}
          {approval && isSame((each) => pickApproval(each)?.startWithinMs) && (
            <Fact name="Starts">{describeStart(approval)}</Fact>
          )}
          {isOne && (
            <>
              <Fact name="Reminder">
                {approval?.remindAt !== undefined && <Time at={approval.remindAt} />}
              </Fact>
              <Fact name="Before">
                {approval?.follows !== undefined && 'an earlier request expired unanswered'}
              </Fact>
            </>
          )}
          {isSame(describeApprovers) && <Fact name="Answered by">{describeApprovers(entry)}</Fact>}
          <Fact name="Approvals">
            {isSame((each) => each.quorum) &&
              entry.quorum > 1 &&
              (isOne ? `${entry.votes} of ${entry.quorum}` : `${entry.quorum} each`)}
          </Fact>
          {approval && isOne && <Votes request={approval} />}
          <Fact name="Metadata">
            {request?.metadata !== undefined && isSame((each) => each.request?.metadata) && (
              <ValuesOf name="metadata" root={request.metadata} declared={noDeclared}>
                <Value value={request.metadata} path={[]} />
              </ValuesOf>
            )}
          </Fact>
          {isOne && (
            <>
              <State entry={entry} />
              <Fact name="Looked at by">
                {claim !== undefined && (
                  <>
                    {claim.isMine ? 'you' : inertLine(claim.by)}, until <Time at={claim.until} />
                  </>
                )}
              </Fact>
              <Fact name="Comes from">
                {sourceUrl !== undefined && <Address url={sourceUrl} />}
              </Fact>
            </>
          )}
          {isSame(describeRights) && <Fact name="You may">{describeRights(entry)}</Fact>}
        </dl>
      </Field>
    </section>
  );
}

const noDeclared = { formats: [], masked: [] };

/** Who may answer, as one line that is safe to show. */
export function describeApprovers(entry: InboxEntry): string {
  const names = entry.approvers.map((each) => inertLine(each)).join(', ');
  const isExcluded = pickApproval(entry)?.notRequester === true;
  return [names, ...(isExcluded ? ['not by those for whom it is asked'] : [])]
    .filter(Boolean)
    .join(', ');
}

/** What happens at the deadline of an approval that has one. */
export function describeEnd(entry: InboxEntry): string | undefined {
  const approval = pickApproval(entry);
  return entry.expiresAt === undefined || approval === undefined
    ? undefined
    : describeDeadlineAction(approval.onExpiry).text;
}

function State({ entry: { state, decidedBy, decidedAt } }: { entry: InboxEntry }) {
  if (state === 'open') return null;
  return (
    <Fact name="State">
      {stateWords[state]}
      {decidedBy !== null && ` by ${inertLine(decidedBy)}`}
      {decidedAt !== undefined && (
        <>
          {' '}
          <Time at={decidedAt} />
        </>
      )}
    </Fact>
  );
}

/** A fact with its name; nothing where there is none. */
function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  if (children === undefined || children === null || children === false || children === '')
    return null;
  return (
    <div className="row">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The agents that lead to the one that asks, outermost first. */
function renderAgents(path: RequestPath): string {
  return path.map(({ agent }) => inertName(agent)).join(' > ');
}

function Votes({ request: { votes = [], reassignments = [] } }: { request: ApprovalRequest }) {
  return (
    <>
      {votes.map(({ person, onBehalfOf, at, reason }) => (
        <Fact key={person} name="Approved by">
          {inertLine(person)}
          {onBehalfOf !== undefined && ` for ${inertLine(onBehalfOf)}`}, <Time at={at} />
          {reason !== undefined && (
            <q>
              <Inert text={reason} />
            </q>
          )}
        </Fact>
      ))}
      {reassignments.map(({ from, to }, index) => (
        <Fact key={index} name="Reassigned">
          {inertLine(from)} asked {inertLine(to)} to answer instead
        </Fact>
      ))}
    </>
  );
}
