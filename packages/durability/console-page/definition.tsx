import { Instant, LongText, Text } from './parts.tsx'
import type { ScheduleDescription } from './types.ts'
import { durationInWords } from './words.ts'

export function Definition({
  schedule,
  now,
}: {
  readonly schedule: ScheduleDescription
  readonly now: number
}) {
  const { cron, every, everyMs, timezone, jitterMs, concurrency, startAt, endAt } = schedule
  const cadence = cron ?? (everyMs === null ? '' : `every ${every ?? durationInWords(everyMs)}`)
  return (
    <dl>
      <dt>Workflow</dt>
      <dd>
        <Text>{schedule.workflow}</Text>
      </dd>
      <dt>Cadence</dt>
      <dd>
        <code>{cadence}</code>
        {timezone !== null && ` in ${timezone}`}
      </dd>
      <dt>Next fire</dt>
      <dd>
        <Instant at={schedule.nextFireAt} now={now} zone={timezone} />
      </dd>
      <dt>Last fire</dt>
      <dd>
        <Instant at={schedule.lastFireAt} now={now} zone={timezone} />
      </dd>
      <dt>Fires</dt>
      <dd>
        {schedule.fires.toLocaleString('en')}
        {schedule.maxRuns !== null && ` of ${schedule.maxRuns.toLocaleString('en')}`}
      </dd>
      <dt>Policies</dt>
      <dd>
        overlap {schedule.overlap}, catch-up {schedule.catchup}
        {jitterMs > 0 && `, jitter ${durationInWords(jitterMs)}`}
        {schedule.pauseAfterFailures !== null &&
          `, pauses after ${schedule.pauseAfterFailures} failures in a row`}
        {schedule.priority !== 0 && `, priority ${schedule.priority}`}
        {concurrency !== null && (
          <>
            , at most {concurrency.limit} at once of <Text>{concurrency.key}</Text>
          </>
        )}
      </dd>
      {startAt !== null && (
        <>
          <dt>Not before</dt>
          <dd>
            <Instant at={startAt} now={now} zone={timezone} />
          </dd>
        </>
      )}
      {endAt !== null && (
        <>
          <dt>Not at or after</dt>
          <dd>
            <Instant at={endAt} now={now} zone={timezone} />
          </dd>
        </>
      )}
      {schedule.note !== null && (
        <>
          <dt>Note</dt>
          <dd>
            <LongText>{schedule.note}</LongText>
          </dd>
        </>
      )}
      {schedule.tags.length > 0 && (
        <>
          <dt>Tags</dt>
          <dd>
            {schedule.tags.map((tag) => (
              <span key={tag} class="tag">
                <Text>{tag}</Text>
              </span>
            ))}
          </dd>
        </>
      )}
      <dt>Namespace</dt>
      <dd>
        <Text>{schedule.namespace}</Text>
      </dd>
      <dt>Input</dt>
      <dd>
        <LongText>{JSON.stringify(schedule.input)}</LongText>
      </dd>
      {schedule.searchAttributes !== null && (
        <>
          <dt>Search attributes</dt>
          <dd>
            <LongText>{JSON.stringify(schedule.searchAttributes)}</LongText>
          </dd>
        </>
      )}
      <dt>Revision</dt>
      <dd>
        {schedule.revision}, changed <Instant at={schedule.updatedAt} now={now} isShort />
      </dd>
    </dl>
  )
}
