package tern.rpc.diagnosis.rule;

import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.TimesByCause;

/**
 * Attributes the waits of virtual threads for a carrier thread to the code that occupies the carrier threads. There are
 * only as many carrier threads as processors, and a virtual thread that uses processor time leaves its carrier thread
 * only at its next wait. Other processes may prolong this time, but they do not explain why the other virtual threads
 * wait.
 */
final class CarrierRules {

    private final Evidence evidence;
    private final TimesByCause byCause;

    CarrierRules(Evidence evidence, TimesByCause byCause) {
        this.evidence = evidence;
        this.byCause = byCause;
    }

    void apply() {
        Part wait = Part.of(Kind.CARRIER);
        Times code = evidence.tasks().carriers().occupying();
        if (code.isEmpty()) {
            byCause.move(wait, Part.of(Kind.RUN_QUEUE));
        } else {
            byCause.pour(wait, code, TimesByCause.WAIT_FOR + "a carrier thread");
        }
    }
}
