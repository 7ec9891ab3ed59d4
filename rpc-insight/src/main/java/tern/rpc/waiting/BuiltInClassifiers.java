package tern.rpc.waiting;

import java.util.ArrayList;
import java.util.List;

/** The classifiers of every report, in their order. */
public final class BuiltInClassifiers {

    private BuiltInClassifiers() {}

    public static List<StackClassifier> all() {
        return List.of(
                new IdleThreads(), // before the places, because an idle event loop is also a place of its library
                new WaitingPlaces(), // known libraries
                new CodeThatWaits()); // all other waits
    }

    /** @param own the classifiers of the application, called first */
    public static List<StackClassifier> after(List<StackClassifier> own) {
        List<StackClassifier> every = new ArrayList<>(own);
        every.addAll(all());
        return List.copyOf(every);
    }
}
