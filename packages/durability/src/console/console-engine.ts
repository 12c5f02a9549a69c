import type {
  Decision,
  Page,
  PreviewedWindow,
  RunDescription,
  RunFilter,
  ScheduleDefinition,
  ScheduleDescription,
  ScheduleFilter,
} from '../schedules/index.node.ts'

/** The part of an engine that the console uses: a `DurabilityEngine`, or what `shardedSchedules` answers. */
export interface ConsoleEngine {
  readonly schedules: {
    create(definition: ScheduleDefinition): Promise<ScheduleDescription>
    upsert(definition: ScheduleDefinition): Promise<ScheduleDescription>
    pause(id: string, note?: string): Promise<ScheduleDescription>
    resume(id: string): Promise<ScheduleDescription>
    trigger(id: string): Promise<RunDescription>
    get(id: string): Promise<ScheduleDescription | null>
    list(filter?: ScheduleFilter): Promise<Page<ScheduleDescription>>
    delete(id: string): Promise<boolean>
    preview(
      idOrDefinition: string | ScheduleDefinition,
      options?: { readonly count?: number },
    ): Promise<readonly PreviewedWindow[]>
    history(id: string, options?: { readonly limit?: number }): Promise<readonly Decision[]>
  }
  listRuns(filter?: RunFilter): Promise<Page<RunDescription>>
  /** There when the schedules are spread over objects: what one of them cannot answer is then left out, and named. */
  readonly shards?: number
}
