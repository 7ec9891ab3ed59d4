package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.failure.FailureText;
import tern.rpc.diagnosis.failure.FullFiles;
import tern.rpc.diagnosis.machine.OpenFileUse;
import tern.rpc.evidence.OpenFiles;
import tern.rpc.evidence.OpenFiles.Target;

/**
 * Creates the cause description for a process that has reached its limit of open files and sockets. The description
 * names what the process leaves open, because the failing code only finds no free place.
 */
final class FullFilesText {

    private static final int MAX_PLACES = 3;

    private final Evidence evidence;
    private final ExcessTime excess;

    FullFilesText(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    CauseDescription describe(Part part) {
        OpenFileUse use = evidence.files();
        Target leak = use.leak();
        List<Part> failures = excess.failed.only(FullFiles::isOne).longestFirst();
        List<String> facts = new ArrayList<>();
        if (!use.line().isEmpty()) {
            facts.add(use.line());
        }
        if (part.equals(FullFiles.ALL)) {
            facts.addAll(places(failures));
        }
        return leak == null
                ? new CauseDescription(
                        "FAILURE", part.name(), Change.of(Where.CODE, FailureText.own(part.name())), facts)
                : new CauseDescription(
                        "FAILURE",
                        FullFiles.ALL.name() + ": " + leak.name(),
                        Change.of(
                                Where.CODE,
                                close(leak, failures) + "; otherwise raise the limit (ulimit -n "
                                        + use.now().limit() + ")"),
                        facts);
    }

    private List<String> places(List<Part> failures) {
        double all = excess.failed.sum(FullFiles::isOne);
        return failures.stream()
                .limit(MAX_PLACES)
                .map(failure -> String.format(
                        Locale.ROOT,
                        "fails    %.0f %% in %s",
                        100 * excess.failed.of(failure) / all,
                        failure.name().replace(" (" + FullFiles.ALL.name() + ")", "")))
                .toList();
    }

    /** Returns the advice to close what the process leaves open. */
    private String close(Target leak, List<Part> failures) {
        String opened = failures.stream()
                .filter(failure -> FullFiles.wanted(failure) == leak.kind())
                .map(FullFiles::place)
                .filter(place -> !place.isEmpty())
                .distinct()
                .limit(MAX_PLACES)
                .collect(Collectors.joining(", "));
        String left = leak.left() == 0
                ? ""
                : "; the peer has closed " + leak.left() + " of them already, and this process has not";
        return "close the " + leak.name() + advice(leak.kind())
                + (opened.isEmpty() ? "" : ", most likely opened in " + opened) + ": "
                + evidence.files().count(leak) + left;
    }

    private static String advice(OpenFiles.Kind kind) {
        return switch (kind) {
            case SOCKET -> " after use, or use one client with a pool";
            case FILE -> " after use (try-with-resources)";
            case PIPE -> " to child processes after use";
            case OTHER -> " after use: clients that each call creates and nobody closes open them";
        };
    }
}
