package tern.rpc.load.peer;

import java.util.ArrayList;
import java.util.List;

/**
 * Positions of values whose decades are equally wide.
 *
 * @param least first decade, above 0
 * @param most last decade
 * @param from position of the first
 * @param to position of the last
 */
record LogScale(double least, double most, double from, double to) {

    /** Whole decades around both values. */
    static LogScale around(double least, double most, double from, double to) {
        double first = Math.pow(10, Math.floor(Math.log10(least)));
        double last = Math.pow(10, Math.ceil(Math.log10(most)));
        return new LogScale(first, last <= first ? first * 10 : last, from, to);
    }

    double at(double value) {
        double within = Math.min(most, Math.max(least, value));
        return from + (to - from) * Math.log(within / least) / Math.log(most / least);
    }

    List<Double> decades() {
        List<Double> decades = new ArrayList<>();
        long count = Math.round(Math.log10(most / least));
        for (int i = 0; i <= count; i++) {
            decades.add(least * Math.pow(10, i));
        }
        return decades;
    }
}
