package garden.open;

import garden.run.Fault;
import garden.run.Half;
import java.util.ArrayList;
import java.util.List;

/**
 * The open half of the test cases for the diagnosis: single faults, pairs of faults, and healthy situations that the
 * authors of the diagnosis rules know.
 */
public final class OpenHalf implements Half {

    @Override
    public String name() {
        return "open";
    }

    @Override
    public boolean blind() {
        return false;
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>();
        faults.addAll(KnownFaults.all());
        faults.addAll(CodeFaults.all());
        faults.addAll(StoreFaults.all());
        faults.addAll(PeerFaults.all());
        faults.addAll(Pairs.all());
        faults.addAll(HealthySituations.all());
        return faults;
    }
}
