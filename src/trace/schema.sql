-- schema.sql - the tables and views of a database of runs
--
-- docs/database.md says what each column means. Names carry units. Integers of picoseconds
-- are what the simulator computed; columns in us are made from them.
--
-- Foreign keys hold for whoever switches them on. The writer makes all ids itself and does
-- not, since to look up the result of each of a million flows would cost more than the flow.

CREATE TABLE run (
  run_id            INTEGER PRIMARY KEY,
  title             TEXT,
  command           TEXT NOT NULL,
  version           TEXT NOT NULL,
  trace_level       TEXT NOT NULL CHECK (trace_level IN ('none', 'summary', 'steps', 'flows')),
  status            TEXT NOT NULL
                    CHECK (status IN ('running', 'complete', 'interrupted', 'failed')),
  error             TEXT,
  started_at        TEXT NOT NULL,
  ended_at          TEXT,
  pid               INTEGER NOT NULL,
  pid_started_ticks INTEGER NOT NULL,
  boot_id           TEXT NOT NULL
) STRICT;

CREATE TABLE topology (
  topology_id INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  sha256      TEXT NOT NULL UNIQUE,
  source      TEXT NOT NULL,
  nodes       INTEGER NOT NULL,
  gpus        INTEGER NOT NULL,
  vertices    INTEGER NOT NULL,
  links       INTEGER NOT NULL
) STRICT;

CREATE TABLE vertex (
  topology_id INTEGER NOT NULL REFERENCES topology ON DELETE CASCADE,
  vertex_id   INTEGER NOT NULL,
  name        TEXT NOT NULL,
  kind        TEXT NOT NULL,
  node        INTEGER,
  PRIMARY KEY (topology_id, vertex_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE link (
  topology_id    INTEGER NOT NULL REFERENCES topology ON DELETE CASCADE,
  link_id        INTEGER NOT NULL,
  name           TEXT NOT NULL,
  from_vertex    INTEGER NOT NULL,
  to_vertex      INTEGER NOT NULL,
  class          TEXT NOT NULL,
  bandwidth_GBps REAL,
  latency_ps     INTEGER NOT NULL,
  latency_us     REAL GENERATED ALWAYS AS (latency_ps / 1e6) VIRTUAL,
  PRIMARY KEY (topology_id, link_id),
  FOREIGN KEY (topology_id, from_vertex) REFERENCES vertex ON DELETE CASCADE,
  FOREIGN KEY (topology_id, to_vertex) REFERENCES vertex ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE param (
  run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  path   TEXT NOT NULL,
  value  TEXT NOT NULL,
  kind   TEXT NOT NULL,
  source TEXT,
  PRIMARY KEY (run_id, path, value)
) STRICT, WITHOUT ROWID;

-- The answer's columns, from time_ps on, are NULL while the simulation runs.
CREATE TABLE result (
  result_id              INTEGER PRIMARY KEY,
  run_id                 INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  topology_id            INTEGER NOT NULL REFERENCES topology ON DELETE CASCADE,
  case_title             TEXT,
  collective             TEXT NOT NULL,
  algorithm              TEXT NOT NULL,
  protocol               TEXT,
  transport              TEXT NOT NULL,
  model                  TEXT NOT NULL,
  settings               TEXT NOT NULL,
  nodes                  INTEGER NOT NULL,
  ranks                  INTEGER NOT NULL,
  channels               INTEGER NOT NULL,
  chunks                 INTEGER NOT NULL,
  size_bytes             INTEGER NOT NULL,
  count                  INTEGER NOT NULL,
  dtype                  TEXT NOT NULL,
  op                     TEXT,
  root                   INTEGER NOT NULL,
  time_ps                INTEGER,
  time_us                REAL GENERATED ALWAYS AS (time_ps / 1e6) VIRTUAL,
  time_digits            INTEGER,
  algbw_GBps             REAL,
  busbw_GBps             REAL,
  bound_ps               INTEGER,
  bound_us               REAL GENERATED ALWAYS AS (bound_ps / 1e6) VIRTUAL,
  bound                  TEXT,
  efficiency             REAL,
  bottleneck_class       TEXT,
  bottleneck_link        TEXT,
  bottleneck_utilisation REAL,
  bytes_sent_max         INTEGER,
  flows                  INTEGER,
  engine                 TEXT,
  engine_reason          TEXT
) STRICT;

CREATE INDEX result_of_run ON result (run_id);
CREATE INDEX result_of_topology ON result (topology_id);

CREATE TABLE estimate (
  result_id   INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  estimate_id INTEGER NOT NULL,
  label       TEXT NOT NULL,
  time_us     REAL NOT NULL,
  PRIMARY KEY (result_id, estimate_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rank_summary (
  result_id         INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  rank              INTEGER NOT NULL,
  vertex_id         INTEGER,
  bytes_sent        INTEGER NOT NULL,
  bytes_received    INTEGER NOT NULL,
  messages_sent     INTEGER NOT NULL,
  messages_received INTEGER NOT NULL,
  started_ps        INTEGER NOT NULL,
  finished_ps       INTEGER NOT NULL,
  sending_ps        INTEGER,
  PRIMARY KEY (result_id, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE link_summary (
  result_id   INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  link_id     INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  messages    INTEGER NOT NULL,
  busy_ps     INTEGER,
  utilisation REAL NOT NULL,
  peak_GBps   REAL,
  PRIMARY KEY (result_id, link_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE critical_path (
  result_id  INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  cause      TEXT NOT NULL,
  link_class TEXT NOT NULL,
  time_ps    INTEGER NOT NULL,
  time_us    REAL GENERATED ALWAYS AS (time_ps / 1e6) VIRTUAL,
  share      REAL NOT NULL,
  PRIMARY KEY (result_id, cause, link_class)
) STRICT, WITHOUT ROWID;

CREATE TABLE phase (
  result_id INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  phase_id  INTEGER NOT NULL,
  name      TEXT NOT NULL,
  PRIMARY KEY (result_id, phase_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE step (
  result_id   INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  phase_id    INTEGER NOT NULL,
  step        INTEGER NOT NULL,
  started_ps  INTEGER NOT NULL,
  finished_ps INTEGER NOT NULL,
  messages    INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  PRIMARY KEY (result_id, phase_id, step)
) STRICT, WITHOUT ROWID;

-- flow_id is result_id * 2^32 + the number of the flow within its result. The flows of a
-- result thus lie together and are found without an index, and each insertion goes to the
-- end of the table. The trigger does what ON DELETE CASCADE does elsewhere.
CREATE TABLE flow_row (
  flow_id     INTEGER PRIMARY KEY,
  lane        INTEGER NOT NULL,
  message     INTEGER NOT NULL,
  channel     INTEGER NOT NULL,
  phase_id    INTEGER NOT NULL,
  src         INTEGER NOT NULL,
  dst         INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  is_reduced  INTEGER NOT NULL,
  started_ps  INTEGER NOT NULL,
  entered_ps  INTEGER NOT NULL,
  injected_ps INTEGER NOT NULL,
  arrived_ps  INTEGER NOT NULL
) STRICT;

-- Many flows packed: `data` as flow_chunk.h says. first_flow_id is that of the first of them, and
-- the others count up from it. The least and the greatest of their times tell, without a look at
-- the data, whether a chunk has what a query asks for.
CREATE TABLE flow_chunk (
  first_flow_id   INTEGER PRIMARY KEY,
  flows           INTEGER NOT NULL,
  started_min_ps  INTEGER NOT NULL,
  started_max_ps  INTEGER NOT NULL,
  entered_min_ps  INTEGER NOT NULL,
  entered_max_ps  INTEGER NOT NULL,
  injected_min_ps INTEGER NOT NULL,
  injected_max_ps INTEGER NOT NULL,
  arrived_min_ps  INTEGER NOT NULL,
  arrived_max_ps  INTEGER NOT NULL,
  data            BLOB NOT NULL
) STRICT;

CREATE TRIGGER delete_flows_of_result AFTER DELETE ON result
BEGIN
  DELETE FROM flow_row
   WHERE flow_id BETWEEN old.result_id << 32 AND (old.result_id << 32) + 0xffffffff;
  DELETE FROM flow_chunk
   WHERE first_flow_id BETWEEN old.result_id << 32 AND (old.result_id << 32) + 0xffffffff;
END;

-- Views show complete runs only.

CREATE VIEW complete_result AS
SELECT result.result_id, result.run_id, run.started_at, result.case_title,
       result.collective, result.algorithm, result.protocol,
       result.transport, result.model, result.settings,
       result.topology_id, topology.name AS topology,
       result.nodes, result.ranks, result.channels, result.chunks,
       result.size_bytes, result.count, result.dtype, result.op, result.root,
       result.time_ps, result.time_us, result.time_digits, result.algbw_GBps,
       result.busbw_GBps, result.bound_us, result.bound, result.efficiency,
       result.bottleneck_class, result.bottleneck_link, result.bottleneck_utilisation,
       result.bytes_sent_max, result.flows,
       result.engine, result.engine_reason
  FROM result
  JOIN run USING (run_id)
  JOIN topology USING (topology_id)
 WHERE run.status = 'complete';

CREATE VIEW last_run AS
SELECT *
  FROM complete_result
 WHERE run_id = (SELECT max(run_id) FROM run WHERE status = 'complete');

-- A question is all but the way it is answered: algorithm, protocol, channels, chunks. Of
-- the same answer given twice the newest counts. Where the best time is 0, so is every
-- other's ratio unknown but that of another 0.
CREATE VIEW compare AS
WITH newest AS (
  SELECT *
    FROM complete_result
   WHERE result_id IN (
     SELECT max(result_id)
       FROM complete_result
      GROUP BY collective, topology_id, nodes, ranks, size_bytes, dtype, op, root,
               transport, model, settings, algorithm, protocol, channels, chunks)
),
timed AS (
  SELECT *, min(time_ps) OVER question AS best_ps
    FROM newest
  WINDOW question AS (PARTITION BY collective, topology_id, nodes, ranks, size_bytes, dtype,
                                   op, root, transport, model, settings)
)
SELECT collective, topology, topology_id, nodes, ranks, size_bytes, dtype, op, root,
       transport, model, settings,
       row_number() OVER question AS place,
       algorithm, protocol, channels, chunks, time_us, busbw_GBps, efficiency,
       CASE WHEN time_ps = best_ps THEN 1.0
            ELSE time_ps * 1.0 / nullif(best_ps, 0) END AS ratio_to_best,
       result_id
  FROM timed
WINDOW question AS (PARTITION BY collective, topology_id, nodes, ranks, size_bytes, dtype,
                                 op, root, transport, model, settings
                    -- the fastest, all of which are equal but for roundings, by age
                    ORDER BY CASE WHEN time_ps - best_ps < max(1000, time_ps / 1000000)
                                  THEN 0 ELSE time_ps END, result_id)
 ORDER BY collective, topology, topology_id, nodes, ranks, dtype, op, root,
          transport, model, settings, size_bytes, place;

CREATE VIEW best_algorithm AS
SELECT collective, topology, topology_id, nodes, ranks, size_bytes, dtype, op, root,
       transport, model, settings,
       algorithm, protocol, channels, chunks, time_us, busbw_GBps, efficiency, result_id
  FROM compare
 WHERE place = 1;

CREATE VIEW crossover AS
SELECT collective, topology, topology_id, nodes, ranks, dtype, op, root,
       transport, model, settings,
       size_below_bytes, algorithm_below, protocol_below, size_bytes, algorithm, protocol
  FROM (SELECT *,
               lag(size_bytes) OVER by_size AS size_below_bytes,
               lag(algorithm) OVER by_size AS algorithm_below,
               lag(protocol) OVER by_size AS protocol_below
          FROM best_algorithm
        WINDOW by_size AS (PARTITION BY collective, topology_id, nodes, ranks, dtype, op, root,
                                        transport, model, settings
                           ORDER BY size_bytes))
 WHERE size_below_bytes IS NOT NULL
   AND (algorithm IS NOT algorithm_below OR protocol IS NOT protocol_below);

CREATE VIEW busiest_link AS
SELECT result_id, run_id, collective, algorithm, topology, size_bytes, time_us,
       link, class, bandwidth_GBps, bytes, messages, busy_us, utilisation, peak_GBps
  FROM (SELECT complete_result.*, link.name AS link, link.class, link.bandwidth_GBps,
               link_summary.bytes, link_summary.messages,
               link_summary.busy_ps / 1e6 AS busy_us,
               link_summary.utilisation, link_summary.peak_GBps,
               row_number() OVER (PARTITION BY result_id
                                  ORDER BY link_summary.utilisation DESC, link_id) AS place
          FROM complete_result
          JOIN link_summary USING (result_id)
          JOIN link USING (topology_id, link_id))
 WHERE place = 1;

CREATE VIEW flow AS
SELECT result.result_id, flow_any.flow_id, flow_any.lane, flow_any.message, flow_any.channel,
       flow_any.phase_id, phase.name AS phase,
       flow_any.src, flow_any.dst, src_gpu.name AS src_gpu, dst_gpu.name AS dst_gpu,
       flow_any.bytes, flow_any.is_reduced,
       flow_any.started_ps, flow_any.entered_ps, flow_any.injected_ps, flow_any.arrived_ps,
       flow_any.started_us, flow_any.entered_us,
       flow_any.injected_us, flow_any.arrived_us
  FROM run
  JOIN result USING (run_id)
  JOIN flow_any ON flow_any.flow_id BETWEEN result.result_id << 32
                                        AND (result.result_id << 32) + 0xffffffff
  LEFT JOIN phase ON phase.result_id = result.result_id
                 AND phase.phase_id = flow_any.phase_id
  LEFT JOIN rank_summary AS src_rank ON src_rank.result_id = result.result_id
                                    AND src_rank.rank = flow_any.src
  LEFT JOIN vertex AS src_gpu ON src_gpu.topology_id = result.topology_id
                             AND src_gpu.vertex_id = src_rank.vertex_id
  LEFT JOIN rank_summary AS dst_rank ON dst_rank.result_id = result.result_id
                                    AND dst_rank.rank = flow_any.dst
  LEFT JOIN vertex AS dst_gpu ON dst_gpu.topology_id = result.topology_id
                             AND dst_gpu.vertex_id = dst_rank.vertex_id
 WHERE run.status = 'complete';
