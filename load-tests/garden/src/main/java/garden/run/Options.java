package garden.run;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command-line arguments.
 *
 * @param only the names of the faults to run; all faults if empty
 * @param half the name of the half to run, {@code open} or {@code blind}; both halves if empty
 * @param showBlind whether to show the answers for the blind half
 * @param fresh whether to rerun faults that already have a verdict
 * @param live whether to show one fault from beginning to end
 * @param mariaDb whether the database is MariaDB instead of H2
 * @param answers the folder in which the complete diagnoses are saved
 */
record Options(
        List<String> only, String half, boolean showBlind, boolean fresh, boolean live, boolean mariaDb, Path answers) {

    static Options of(String... arguments) {
        List<String> only = new ArrayList<>();
        String half = "";
        boolean show = false;
        boolean fresh = false;
        boolean live = false;
        boolean mariaDb = false;
        Path answers = Path.of("target", "faults", "answers");
        for (String argument : arguments) {
            if (argument.startsWith("--half=")) {
                half = value(argument);
            } else if (argument.equals("--show-blind")) {
                show = true;
            } else if (argument.equals("--fresh")) {
                fresh = true;
            } else if (argument.equals("--live")) {
                live = true;
            } else if (argument.equals("--mariadb")) {
                mariaDb = true;
            } else if (argument.startsWith("--answers=")) {
                answers = Path.of(value(argument));
            } else if (argument.startsWith("-")) {
                throw new IllegalArgumentException(argument + " is no option; see load-tests/faults --help");
            } else {
                only.addAll(List.of(argument.split(",", -1)));
            }
        }
        return new Options(List.copyOf(only), half, show, fresh, live, mariaDb, answers);
    }

    private static String value(String argument) {
        return argument.substring(argument.indexOf('=') + 1);
    }

    boolean wants(Half part) {
        return half.isEmpty() || half.equals(part.name());
    }

    boolean wants(Fault fault) {
        return only.isEmpty() || only.contains(fault.name());
    }
}
