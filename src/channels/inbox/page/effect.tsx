import { inertLine } from '../../../content/inert-text.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { Inert } from './inert.tsx';
import { LongText } from './long-text.tsx';
import { Field, MissingField } from './reading.tsx';
import { Warnings } from './warnings.tsx';

/* A longer title is cut, and shown whole here. */
const longestTitle = 300;

/** Whether a title that is cut can't show a text whole. */
function isLongTitle(text: string): boolean {
  return text.length > longestTitle || text.includes('\n');
}

/** Whether what an entry is about is not here. A list leaves out what is too long for it. */
export function isAbsent({ request, lostCall, stuck }: InboxEntry): boolean {
  return request === undefined && lostCall === undefined && stuck === undefined;
}

/** What a request does: its text where the title is too short for it, the tool, why it is asked, and what may be taken for something else. */
export function Effect({ entry }: { entry: InboxEntry }) {
  const { request, lostCall, stuck, toolName } = entry;
  const why = request?.type === 'approval-request' ? request.reason : undefined;
  return (
    <section aria-label="Effect">
      <Field name="effect" label="effect">
        <p className="effect">
          {entry.risk !== null && (
            <span className={`risk ${entry.risk}`}>{words[entry.risk]} risk</span>
          )}
          {toolName !== null && <span className="code">{inertLine(toolName)}</span>}
        </p>
        {request !== undefined && isLongTitle(request.text) && <LongText text={request.text} />}
        {why !== undefined && (
          <p>
            Needs approval: <Inert text={why} />
          </p>
        )}
        {lostCall?.error !== undefined && (
          <p>
            Lost: <LongText text={lostCall.error} />
          </p>
        )}
        {stuck !== undefined && (
          <p>
            {stuck.failures.toLocaleString('en')} runs in a row have failed
            {stuck.error !== undefined && (
              <>
                : <LongText text={stuck.error} />
              </>
            )}
          </p>
        )}
        {isAbsent(entry) && (
          <MissingField name="request" label="what is asked">
            What is asked is not here: it was erased, is damaged, or has yet to be read.
          </MissingField>
        )}
        <Warnings of={[entry]} />
      </Field>
    </section>
  );
}

const words = { low: 'Low', medium: 'Medium', high: 'High', critical: 'Critical' };
