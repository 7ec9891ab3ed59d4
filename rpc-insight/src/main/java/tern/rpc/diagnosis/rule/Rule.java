package tern.rpc.diagnosis.rule;

import java.util.Map;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.pool.PoolVerdict;

/** Attributes the time of symptoms to their causes. All rules share the same evidence and change the same times. */
abstract class Rule {

    final Evidence evidence;
    final ExcessTime excess;
    final Operations operations;

    /** The reasons why calls wait for each pool, by the name of the pool. A rule may replace a reason. */
    final Map<String, PoolVerdict> pools;

    /** The time above the calls' usual time, by activity or wait. Rules move time from symptoms to causes. */
    final TimesByCause byCause;

    Rule(
            Evidence evidence,
            ExcessTime excess,
            Operations operations,
            Map<String, PoolVerdict> pools,
            TimesByCause byCause) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.pools = pools;
        this.byCause = byCause;
    }

    /** Creates a rule that shares the evidence and the times of another rule. */
    Rule(Rule other) {
        this(other.evidence, other.excess, other.operations, other.pools, other.byCause);
    }
}
