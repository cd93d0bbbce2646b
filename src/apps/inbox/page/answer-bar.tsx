import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { ReasonForm, ReassignForm, SettleForm } from './answer-forms.tsx';
import { approvingSteps } from './answers.ts';
import { Button } from './button.tsx';
import { countWords } from './entry-words.ts';
import { FieldOptions } from './form-field.tsx';
import type { Inbox, Opened } from './inbox.ts';
import { makeRememberField, restMs } from '../../../view/answer-form.ts';
import { pickApproval } from './request-words.ts';

interface AnswerBarProps {
  inbox: Inbox;
  opened: Opened;
}

/** The person's actions on the open request. They are below the evidence, in the same place for each request. */
export function AnswerBar({ inbox, opened }: AnswerBarProps) {
  const { answering } = inbox;
  const { seen } = answering;
  const bar = useScrollPadding();
  useRest(inbox);
  return (
    <div ref={bar} class="answers">
      <Form inbox={inbox} opened={opened} />
      <RememberField inbox={inbox} opened={opened} />
      <p id="answer-why" class="why">
        {describeWhy({ inbox, opened })}
        {seen !== undefined && seen.hidden > 0 && (
          <span class="hidden"> {countWords(seen.hidden, 'argument')} can’t be shown here.</span>
        )}
      </p>
      <div class="buttons" role="group" aria-label="Answer">
        <Buttons inbox={inbox} opened={opened} />
      </div>
    </div>
  );
}

/* Shows that an approval counts as soon as it does. Timers may fire slightly early. */
function useRest(inbox: Inbox): void {
  useEffect(() => {
    const timer = setTimeout(() => inbox.changed(), restMs + 20);
    return () => clearTimeout(timer);
  }, [inbox, inbox.answering.shownAt]);
}

/* A bar that takes more of the window than this does not stay in view: with large letters, nothing else would fit. */
const tallest = 0.4;

/* In one column the bar covers scrolled content, which then counts as not shown. */
function useScrollPadding() {
  const bar = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = bar.current;
    if (element === null) return undefined;
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => {
      element.classList.toggle('tall', element.offsetHeight > window.innerHeight * tallest);
      const isSticky = getComputedStyle(element).position === 'sticky';
      style.scrollPaddingBottom = isSticky ? `${element.offsetHeight}px` : '';
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      style.scrollPaddingBottom = '';
    };
  }, []);
  return bar;
}

function describeWhy({ inbox: { answering }, opened }: AnswerBarProps): string | undefined {
  const [entry] = opened.row.entries;
  const isApproval = entry !== undefined && pickApproval(entry) !== undefined;
  return isApproval && approvingSteps.includes(answering.step)
    ? answering.whyNotApprove
    : answering.whyNot;
}

/** The form of the current step. It focuses a field or its heading, never a button that answers. */
function Form({ inbox, opened: { row } }: AnswerBarProps) {
  const { answering } = inbox;
  const [entry, ...others] = row.entries;
  if (entry === undefined) return null;
  const how = others.length === 0 ? 'it' : `all ${answering.answerable.length}`;
  const why = `Why do you approve ${how}?`;
  /* Whatever is sent is shown. */
  const later = answering.needsReason && (
    <ReasonForm inbox={inbox} entry={entry} title={why} isLater />
  );
  switch (answering.step) {
    case 'read':
      return null;
    case 'give-reason':
      return <ReasonForm inbox={inbox} entry={entry} title={why} />;
    case 'reject':
      return (
        <ReasonForm
          inbox={inbox}
          entry={entry}
          title={`Why do you reject ${how}? The agent reads it.`}
        />
      );
    case 'edit':
      return (
        <h3 class="step" tabIndex={-1}>
          Edit what will run
        </h3>
      );
    case 'check':
      return (
        <>
          <h3 class="step" tabIndex={-1}>
            This will run
          </h3>
          {later}
        </>
      );
    case 'confirm':
      return (
        <>
          <h3 class="step" tabIndex={-1}>
            The risk is critical. Approve {how} all the same?
          </h3>
          {later}
        </>
      );
    case 'reassign':
      return <ReassignForm inbox={inbox} entry={entry} />;
    case 'settle':
      return <SettleForm inbox={inbox} entry={entry} />;
  }
}

/* In each step that ends with an answer for which it counts. */
function RememberField({ inbox: { answering }, opened: { row } }: AnswerBarProps) {
  const [entry, ...others] = row.entries;
  const asked = entry && answering.findAsked(entry);
  if (entry === undefined || asked === undefined) return null;
  if (others.length > 0 || entry.state !== 'open') return null;
  if (answering.step !== 'reject' && !approvingSteps.includes(answering.step)) return null;
  const { requestId } = entry;
  const field = makeRememberField(asked, answering.draft(requestId));
  return (
    field && <FieldOptions field={field} onEnter={(enter) => answering.enter(requestId, enter)} />
  );
}

function Buttons({ inbox, opened }: AnswerBarProps) {
  const { answering } = inbox;
  const [entry] = opened.row.entries;
  if (entry === undefined) return null;
  const back = (
    <Button look="quiet" action="back" onPress={() => inbox.goBack()}>
      Back
    </Button>
  );
  const isRested = (): boolean => answering.isRested;
  const approve = (label: string) => (
    <Button
      look="yes"
      action="approve"
      whyNot={answering.whyNotApprove === undefined ? undefined : 'answer-why'}
      onPress={() => answering.approve()}
    >
      {label}
    </Button>
  );
  switch (answering.step) {
    case 'read':
      return <FirstButtons inbox={inbox} opened={opened} />;
    case 'give-reason':
      return [approve('Approve'), back];
    case 'reject':
      return [
        <Button key="reject" look="no" isRested={isRested} onPress={() => answering.reject()}>
          Reject
        </Button>,
        back,
      ];
    case 'edit':
      return [
        <Button key="check" onPress={() => answering.checkEdit()}>
          Check the edit
        </Button>,
        back,
      ];
    case 'check':
      return [approve('Approve as edited'), back];
    case 'confirm':
      return [approve('Approve for certain'), back];
    case 'reassign':
    case 'settle':
      return back;
  }
}

function FirstButtons({ inbox, opened: { row } }: AnswerBarProps) {
  const { answering } = inbox;
  const [entry, ...others] = row.entries;
  if (entry === undefined) return null;
  const { rights, kind, maySettle, state } = inbox.findKnown(entry);
  const isApproval = pickApproval(entry) !== undefined && state === 'open';
  const isAlone = others.length === 0;
  const whyNot = answering.whyNot === undefined ? undefined : 'answer-why';
  const whyNotApprove = answering.whyNotApprove === undefined ? undefined : 'answer-why';
  const all = isAlone ? '' : ` all ${answering.answerable.length}`;
  const isRested = (): boolean => answering.isRested;
  return (
    <>
      {isApproval && rights.mayApprove && (
        <Button
          look="yes"
          action="approve"
          whyNot={whyNotApprove}
          onPress={() => answering.approve()}
        >
          Approve{all}
        </Button>
      )}
      {isApproval && rights.mayReject && (
        <Button look="no" action="reject" whyNot={whyNot} onPress={() => answering.startReject()}>
          Reject{all} …
        </Button>
      )}
      {isApproval && isAlone && rights.mayEdit && entry.masked.length === 0 && (
        <Button action="edit" whyNot={whyNot} onPress={() => answering.startEdit()}>
          Edit …
        </Button>
      )}
      {!isAlone && (
        <Button look="quiet" onPress={() => inbox.splitOpened()}>
          One by one
        </Button>
      )}
      {isAlone && rights.mayWithdraw && (
        <Button
          isRested={isRested}
          onPress={() => answering.act({ type: 'withdraw' }, 'Withdrawing')}
        >
          Withdraw my approval
        </Button>
      )}
      {isAlone && rights.mayReassign && state === 'open' && (
        <Button look="quiet" onPress={() => answering.setStep('reassign')}>
          Let somebody else answer …
        </Button>
      )}
      {kind === 'lost-call' && maySettle && (
        <Button onPress={() => answering.setStep('settle')}>Settle …</Button>
      )}
      {kind === 'stuck-thread' && maySettle && (
        <Button
          isRested={isRested}
          onPress={() => answering.act({ type: 'retry' }, 'Trying again')}
        >
          Try again
        </Button>
      )}
    </>
  );
}
