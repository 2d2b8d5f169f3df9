-- flow_any.sql - all flows, as long as none is packed
--
-- With the first packed flow the view gives way to a virtual table of the same name and the same
-- columns, made by the module flow_packed; when the last one is unpacked, it comes back. So
-- whoever has SQLite alone can read every file in which nothing is packed.
CREATE VIEW flow_any AS
SELECT flow_id, flow_id >> 32 AS result_id, lane, message, channel, phase_id, src, dst, bytes,
       is_reduced, started_ps, entered_ps, injected_ps, arrived_ps,
       started_ps / 1e6 AS started_us, entered_ps / 1e6 AS entered_us,
       injected_ps / 1e6 AS injected_us, arrived_ps / 1e6 AS arrived_us
  FROM flow_row;
