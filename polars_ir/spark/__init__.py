"""Evaluation on Spark: the same core, on every executor (`pip install 'polars_ir[spark]'`, PySpark 4 or later).

```python
from polars_ir import spark as irs

per_query = run.transform(irs.evaluate, qrels, ["nDCG@10", "AP"])  # Spark frames, of any number of rows
per_query.transform(irs.mean).show()
```

How it goes
    * Both tables travel to a partition by their query, in one shuffle; each partition is one call of
      `polars_ir.evaluate` on Arrow batches. Nothing runs before an action, but schemas are read and the call is checked
      on the driver: a wrong column, measure or option fails before any job starts.
    * What a partition has to know of the others goes with it: the systems there are, the highest grade (for `bounds`),
      and which documents are judged for another query. So every figure is the local one, to the last bit.
    * `compare`, `gate`, `worst_slices` and `drift` are made of moments and counts: rows travel once, by their query,
      each partition sends a row of sums for each slice, and the driver has no others. Their jobs run at the call.
    * Of the run only the columns that are read travel and, where the judged queries are few enough to be broadcast,
      only the rows of judged queries.
    * Bad rows fail the job with the message that they have locally, inside Spark's `PythonException`. As for a
      LazyFrame, nothing warns of ids that never meet: look at them with `polars_ir.validate` on a sample. An action on
      some rows, such as `show()`, evaluates some partitions only, and meets only their bad rows.
    * A Parquet part that is lost or broken fails the job, and Spark names it; sessions that leave out such parts are
      refused, the option of one `read` that does so is not seen. A part of zero bytes, which Spark leaves out itself,
      is an error before any job where Spark tells the sizes of files: not over Spark Connect, nor of a frame that was
      made from rows (`createDataFrame`) or RDDs; and once the frame is read, Spark does not look at its files again.
      Spark Connect tells only the names of files: where `len(run.inputFiles())` is more than
      `run.select("_metadata.file_path").distinct().count()`, a job of its own, parts have no rows or no bytes. Spark
      takes the schema of all parts from one: with `mergeSchema` a column that only others have is there, and is null
      in the rest.

On a cluster
    * Java 17 or later, and Spark 4, with or without Spark Connect (`SparkSession.builder.remote`).
    * Executors need Python packages: `pyarrow`, and `polars_ir` and Polars in the versions of the driver, since
      expressions are sent. PySpark is that of their Spark. Install `polars_ir[pandas]` and `venv-pack` in a virtual
      environment (not editable), pack it (`venv-pack -o env.tar.gz`) and submit it from there: `spark-submit
      --archives env.tar.gz#env --conf spark.pyspark.python=./env/bin/python --conf spark.pyspark.driver.python=python
      job.py`. The last setting is for a driver that runs where you submit and has no `./env`; with `--deploy-mode
      cluster` it has, so leave the setting out. The archive links to the Python that it was made with: executors need
      that at the same path. On one machine say which Python workers are to be: `PYSPARK_PYTHON`.
    * The memory of a task is that of its partition: 0.65 GB for 3.5 million rows of short ids, when measured. A query
      is never split, so the largest query, of all systems together, is what no setting goes below. Without
      `partitions` Spark chooses them (`spark.sql.shuffle.partitions`, put together by adaptive execution); for a run of
      many rows choose one for every one to five million. The memory is that of Python, outside the JVM:
      `spark.executor.memoryOverhead`, for each of `spark.executor.cores` tasks (Spark's own standalone clusters do not
      count it: leave their workers so much). `spark.executor.pyspark.memory` limits addresses, of which Polars reserves
      more than it uses: 256 MB a task ended Python without a message, 1 GB did not.
    * Polars takes as many threads in a task as Spark gives it cores (`spark.task.cpus`), unless
      `spark.executorEnv.POLARS_MAX_THREADS` says otherwise.
    * A run with a `run` column is read twice, once to find the systems: `run.persist()` what is costly to make.
"""

from polars_ir.spark.evaluate import evaluate, validate
from polars_ir.spark.per_query import compare, drift, gate, mean, summarize, worst_slices

__all__ = ["compare", "drift", "evaluate", "gate", "mean", "summarize", "validate", "worst_slices"]
