import { Component, type ComponentChildren } from 'preact';
import { describeCaller } from '../../../content/caller.ts';
import { listQuestionFields, readEditedInput } from '../../../view/answer-form.ts';
import { AnswerBar } from './answer-bar.tsx';
import { previewEdit } from './answers.ts';
import { Button } from './button.tsx';
import { DifferencesTable } from './differences-table.tsx';
import { describeRow, describeState } from './entry-words.ts';
import type { Inbox, Opened } from './inbox.ts';
import { type DetailHandle, RequestDetail } from './request-detail.tsx';
import type { ShownState } from './shown-state.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { EditForm } from './edit-form.tsx';
import { fieldId, FieldView } from './form-field.tsx';
import { type QuestionRequestContent, visitedAddress } from '../../../content/question.ts';
import { Address } from './address.tsx';

interface ContentProps {
  inbox: Inbox;
  opened: Opened;
  onHandle: (handle: DetailHandle) => void;
}

interface DetailPaneProps {
  inbox: Inbox;
  /** The handle of the open request's view, once rendered. */
  detail: () => DetailHandle | undefined;
  onHandle: (handle: DetailHandle) => void;
}

/** The open row: one request, or the table of similar ones. */
export function DetailPane({ inbox, detail, onHandle }: DetailPaneProps) {
  const { opened } = inbox;
  if (opened === undefined) {
    return (
      <section class="detail-pane" aria-label="Request">
        <h2 id="request-title" class="nothing" tabIndex={-1}>
          {inbox.isRead && inbox.list.rows.length === 0 ? 'Nothing is left.' : 'Nothing is open.'}
        </h2>
      </section>
    );
  }
  return (
    <section class="detail-pane" aria-labelledby="request-title">
      <header class="detail-top">
        <Button look="quiet" action="back" onPress={() => inbox.goBack()}>
          Back
        </Button>
        <Button action="previous" look="quiet" onPress={() => void inbox.move(-1, 'detail')}>
          Previous
        </Button>
        <Button action="next" look="quiet" onPress={() => void inbox.move(1, 'detail')}>
          Next
        </Button>
        <span class="screens">
          <Button
            action="show-previous"
            look="quiet"
            label="Screen up"
            onPress={() => detail()?.showPrevious()}
          >
            Up
          </Button>
          <Button
            action="show-next"
            look="quiet"
            label="Screen down"
            onPress={() => detail()?.showNext()}
          >
            Down
          </Button>
          <Button
            action="unfold"
            look="quiet"
            label="Unfold all"
            onPress={() => detail()?.unfoldAll()}
          >
            Unfold
          </Button>
        </span>
      </header>
      <div class="detail-scroll">
        <h2 id="request-title" tabIndex={-1}>
          {inbox.answering.step === 'check' && 'Before the edit: '}
          {describeRow(opened.row)}
        </h2>
        <Notice inbox={inbox} opened={opened} />
        <Content inbox={inbox} opened={opened} onHandle={onHandle} />
      </div>
      <AnswerBar inbox={inbox} opened={opened} />
    </section>
  );
}

/** The notice above the request: that an answer was refused, how it ended, or that it has changed. */
function Notice({ inbox, opened: { row, loaded } }: { inbox: Inbox; opened: Opened }) {
  const { answering } = inbox;
  const [entry, ...others] = row.entries;
  if (entry === undefined) return null;
  const refused = row.entries.flatMap(({ requestId }) => answering.findRefusal(requestId) ?? []);
  const known = inbox.findKnown(entry);
  const isOver = others.length === 0 && known.state !== 'open';
  const state = isOver ? describeState(known) : undefined;
  const { caller, mayRun } = loaded ?? {};
  const isUndone = known.state === 'open' || known.state === 'approved';
  const callerWords = caller && isUndone ? describeCaller(caller, inbox.client.now) : undefined;
  return (
    <>
      {refused.length > 0 && (
        <p class="refusal">
          {others.length === 0 ? 'Not recorded' : `${refused.length} were not recorded`}:{' '}
          {refused[0]?.message}
        </p>
      )}
      {state !== undefined && <p class="ended">{state}</p>}
      {callerWords !== undefined && (
        <p class="about">
          {callerWords}{' '}
          {mayRun === true && (
            <Button onPress={() => answering.act({ type: 'run' }, 'Running it')}>Run it now</Button>
          )}
        </p>
      )}
      {known.digest !== entry.digest && known.state === 'open' && others.length === 0 && (
        <p class="refusal">
          It has changed since it was shown.{' '}
          <Button onPress={() => inbox.reopen()}>Show it as it is now</Button>
        </p>
      )}
    </>
  );
}

function Content({ inbox, opened, onHandle }: ContentProps) {
  const { answering, client } = inbox;
  const { row, loaded } = opened;
  const [entry, ...others] = row.entries;
  if (entry === undefined) return null;
  const { shownKey, step } = answering;
  const draft = answering.draft(entry.requestId);
  const onShown = (seen: ShownState): void => answering.setSeen(shownKey, seen);
  /* It changes rarely, and is never before `shownAt`. */
  const now = Math.max(opened.shownAt, Math.floor(client.now / 30_000) * 30_000);
  if (others.length > 0) {
    return (
      <Still key={shownKey} what={[row.entries, now]}>
        <DifferencesTable entries={row.entries} now={now} onShown={onShown} handle={onHandle} />
      </Still>
    );
  }
  if (inbox.isReading) return <p class="about">Reading …</p>;
  const asked = answering.findAsked(entry);
  if (step === 'edit' && asked !== undefined) {
    return (
      <EditForm
        key={shownKey}
        entry={entry}
        asked={asked}
        draft={draft}
        faults={answering.findFaults(entry)}
        onEnter={(enter) => answering.enter(entry.requestId, enter)}
      />
    );
  }
  const edited = step === 'check' && asked ? readEditedInput(asked, draft).input : undefined;
  const shown = edited === undefined ? entry : previewEdit(entry, edited, opened.shownAt);
  const { earlier = [], conversation } = loaded ?? {};
  /* The edited input is made anew for each rendering. */
  const what = [entry, JSON.stringify(edited), loaded, now];
  return (
    <>
      <Still key={shownKey} what={what}>
        <RequestDetail
          entry={shown}
          earlier={earlier}
          conversation={conversation}
          now={now}
          onShown={onShown}
          handle={onHandle}
        />
      </Still>
      {entry.request?.type === 'question-request' && entry.state === 'open' && (
        <QuestionFields inbox={inbox} entry={entry} request={entry.request} />
      )}
    </>
  );
}

interface StillProps {
  what: readonly unknown[];
  children: ComponentChildren;
}

/** A component that is rendered again only when `what` changes: arguments may be megabytes. */
class Still extends Component<StillProps> {
  override shouldComponentUpdate({ what }: StillProps): boolean {
    return what.some((each, index) => each !== this.props.what[index]);
  }

  override render({ children }: StillProps) {
    return children;
  }
}

interface QuestionFieldsProps {
  inbox: Inbox;
  entry: InboxEntry;
  request: QuestionRequestContent;
}

/** The fields of a question. An answer never approves a call, and no key in a field sends it. */
function QuestionFields({ inbox, entry, request }: QuestionFieldsProps) {
  const { answering } = inbox;
  const { requestId, rights } = entry;
  if (!rights.mayAnswer) return null;
  const fields = listQuestionFields(request, answering.draft(requestId));
  const faults = answering.findFaults(entry);
  const send = (): void => {
    answering.answerQuestion();
    const [fault] = answering.findFaults(entry);
    document.getElementById(fieldId(fault?.key ?? ''))?.focus();
  };
  const whyNot = answering.whyNot === undefined ? undefined : 'answer-why';
  const isRested = (): boolean => answering.isRested;
  const address = request.metadata?.[visitedAddress];
  return (
    <div class="question">
      {typeof address === 'string' && (
        <p>
          <Address url={address} />
        </p>
      )}
      {fields.map((field) => (
        <FieldView
          key={field.key}
          field={field}
          faults={faults}
          isTitled={fields.length === 1}
          onEnter={(enter) => answering.enter(requestId, enter)}
        />
      ))}
      <div class="buttons">
        <Button look="yes" whyNot={whyNot} isRested={isRested} onPress={send}>
          Answer
        </Button>
        {request.allowDismiss && rights.mayReject && (
          <Button
            whyNot={whyNot}
            isRested={isRested}
            onPress={() => answering.answerQuestion({ isDismissed: true })}
          >
            Skip the question
          </Button>
        )}
      </div>
    </div>
  );
}
