package tern.rpc.spring.autoconfigure.insight;

import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.Diagnostician;
import tern.rpc.metrics.RpcReportPart;

/** The present diagnosis. */
record DiagnosisPart(Diagnostician diagnostician) implements RpcReportPart {

    @Override
    public String name() {
        return "diagnosis";
    }

    @Override
    public Diagnosis report() {
        return diagnostician.diagnosis();
    }

    @Override
    public String text() {
        return report().text();
    }
}
