package garden.run;

import java.util.List;

/**
 * One half of the faults that test the diagnosis. The authors of the diagnosis rules know the faults of the open half,
 * but not the faults of the blind half. Java's service loader finds the halves.
 */
public interface Half {

    String name();

    /** Returns whether a run of this half prints only totals by default, without the individual diagnoses. */
    boolean blind();

    List<Fault> faults();
}
