package tern.rpc.load.replay;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/**
 * The command-line arguments.
 *
 * @param rounds the numbers of the rounds to run
 * @param seconds the measured time of each load, after its warm-up
 * @param embedded whether to use embedded stores instead of installed servers
 */
record Arguments(Set<Integer> rounds, int seconds, boolean embedded) {

    private static final int ROUNDS = Round.ALL.size();

    static Arguments of(String... arguments) {
        Set<Integer> rounds = new TreeSet<>();
        Round.ALL.forEach(round -> rounds.add(round.number()));
        int seconds = 6;
        boolean embedded = false;
        for (String argument : arguments) {
            String value = argument.substring(argument.indexOf('=') + 1);
            if (argument.startsWith("--rounds=")) {
                rounds.clear();
                Arrays.stream(value.split(",", -1)).forEach(round -> rounds.add(number("--rounds", round, ROUNDS)));
            } else if (argument.startsWith("--seconds=")) {
                seconds = number("--seconds", value, 3_600);
            } else if (argument.equals("--stores=embedded")) {
                embedded = true;
            } else {
                throw new IllegalArgumentException("unknown argument '" + argument
                        + "'; expected --rounds=1,2,…, --seconds=… or --stores=embedded");
            }
        }
        return new Arguments(rounds, seconds, embedded);
    }

    private static int number(String name, String text, int most) {
        if (text.matches("[0-9]{1,4}") && Integer.parseInt(text) >= 1 && Integer.parseInt(text) <= most) {
            return Integer.parseInt(text);
        }
        throw new IllegalArgumentException(name + " is '" + text + "'; expected whole numbers from 1 to " + most);
    }
}
