-- run_json.sql - the results of one run (?1) as the object ccsim.result/1; ?2 says whether the run
-- can be found again
SELECT json_object('schema', 'ccsim.result/1',
                   'title', (SELECT title FROM run WHERE run_id = ?1),
                   'results', json_group_array(json(result)))
  FROM (
    SELECT json_object(
             'case_title', case_title,
             'collective', collective,
             'algorithm', algorithm,
             'protocol', protocol,
             'transport', transport,
             'model', model,
             'topology', topology.name,
             'nodes', result.nodes,
             'ranks', ranks,
             'channels', channels,
             'chunks', chunks,
             'size_bytes', size_bytes,
             'count', count,
             'dtype', dtype,
             'op', op,
             'root', root,
             'time_us', time_us,
             'time_digits', time_digits,
             'algbw_GBps', algbw_GBps,
             'busbw_GBps', busbw_GBps,
             'bound_us', bound_us,
             'bound', bound,
             'efficiency', efficiency,
             'bottleneck', CASE WHEN bottleneck_link IS NOT NULL THEN json_object(
               'class', bottleneck_class,
               'link', bottleneck_link,
               'utilisation', bottleneck_utilisation) END,
             'bytes_sent_max', bytes_sent_max,
             'flows', flows,
             'engine', engine,
             'engine_reason', engine_reason,
             'is_winner', json(CASE WHEN time_ps - min(time_ps) OVER question
                                              >= max(1000, time_ps / 1000000)
                                    THEN 'false' ELSE 'true' END),
             'estimates', (SELECT json_group_array(json_object('label', label, 'time_us', time_us))
                             FROM (SELECT label, estimate.time_us
                                     FROM estimate
                                    WHERE estimate.result_id = result.result_id
                                    ORDER BY estimate_id)),
             'run_id', CASE WHEN ?2 THEN run_id END) AS result
      FROM result
      JOIN topology USING (topology_id)
     WHERE run_id = ?1 AND time_ps IS NOT NULL
    WINDOW question AS (PARTITION BY collective, topology_id, result.nodes, ranks, size_bytes, dtype,
                                     op, root, transport, model, settings)
     ORDER BY result_id)
