-- The tables of durability/schedules in D1. Copy this file into your migrations_dir, or point migrations_dir at its folder,
-- and give the store autoSchema: false. Without it, d1Store creates the same tables on its first write.

CREATE TABLE IF NOT EXISTS durable_schedules (
  id TEXT NOT NULL PRIMARY KEY,
  namespace TEXT NOT NULL,
  workflow TEXT NOT NULL,
  definition TEXT NOT NULL,
  note TEXT,
  paused INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  next_window INTEGER NOT NULL,
  next_fire_at INTEGER NOT NULL,
  first_attempt_at INTEGER,
  attempts INTEGER NOT NULL,
  last_fire_at INTEGER,
  last_run_id TEXT,
  fires INTEGER NOT NULL,
  last_error TEXT,
  failures INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  writes INTEGER NOT NULL,
  kept_runs INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS durable_schedules_due_idx ON durable_schedules (paused, next_fire_at, id);

CREATE TABLE IF NOT EXISTS durable_schedule_tags (
  tag TEXT NOT NULL,
  schedule_id TEXT NOT NULL,
  PRIMARY KEY (tag, schedule_id)
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS durable_schedule_tags_schedule_idx ON durable_schedule_tags (schedule_id);

CREATE TABLE IF NOT EXISTS durable_runs (
  schedule_id TEXT NOT NULL,
  scheduled_time INTEGER NOT NULL,
  name TEXT NOT NULL,
  id TEXT NOT NULL,
  workflow TEXT NOT NULL,
  kind TEXT NOT NULL,
  input TEXT NOT NULL,
  namespace TEXT NOT NULL,
  tags TEXT NOT NULL,
  search_attributes TEXT NOT NULL,
  priority INTEGER NOT NULL,
  revision INTEGER,
  concurrency_key TEXT,
  status TEXT NOT NULL,
  counted INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  error TEXT,
  expires_at INTEGER,
  phase INTEGER NOT NULL,
  order_rank INTEGER NOT NULL,
  order_at INTEGER NOT NULL,
  PRIMARY KEY (schedule_id, scheduled_time, name)
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS durable_runs_order_idx ON durable_runs (phase, order_rank, order_at, created_at);

CREATE INDEX IF NOT EXISTS durable_runs_concurrency_idx ON durable_runs (concurrency_key)
  WHERE concurrency_key IS NOT NULL AND phase < 2;

CREATE INDEX IF NOT EXISTS durable_runs_expires_idx ON durable_runs (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS durable_decisions (
  schedule_id TEXT NOT NULL,
  n INTEGER NOT NULL,
  decision TEXT NOT NULL,
  scheduled_time INTEGER,
  from_time INTEGER,
  to_time INTEGER,
  decided_at INTEGER NOT NULL,
  reason TEXT,
  PRIMARY KEY (schedule_id, n)
) WITHOUT ROWID;
