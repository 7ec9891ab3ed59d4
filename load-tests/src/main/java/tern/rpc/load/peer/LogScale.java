package tern.rpc.load.peer;

import java.util.ArrayList;
import java.util.List;

/**
 * A logarithmic scale.
 *
 * @param least the value at the lower end, greater than 0
 * @param most the value at the upper end
 * @param from the position of the lower end
 * @param to the position of the upper end
 */
record LogScale(double least, double most, double from, double to) {

    /** Returns a scale whose range is extended to whole decades. */
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
