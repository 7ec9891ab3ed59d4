package tern.rpc.spring.autoconfigure.insight;

import tern.rpc.metrics.RpcReportPart;
import tern.rpc.spring.autoconfigure.waiting.WaitingReporter;
import tern.rpc.waiting.WaitingReport;

/** The waiting report. */
record WaitingPart(WaitingReporter reporter) implements RpcReportPart {

    @Override
    public String name() {
        return "waiting";
    }

    @Override
    public WaitingReport report() {
        return reporter.report();
    }
}
