package tern.rpc.waiting;

import java.util.ArrayList;
import java.util.List;

/** The classifiers that every report has, in their order. */
public final class BuiltInClassifiers {

    private BuiltInClassifiers() {}

    public static List<StackClassifier> all() {
        return List.of(
                new IdleThreads(), // before the places, since an idle event loop stands in its library too
                new WaitingPlaces(), // known libraries
                new CodeThatWaits()); // whatever else stands still
    }

    /** @param own of the application, first asked */
    public static List<StackClassifier> after(List<StackClassifier> own) {
        List<StackClassifier> every = new ArrayList<>(own);
        every.addAll(all());
        return List.copyOf(every);
    }
}
