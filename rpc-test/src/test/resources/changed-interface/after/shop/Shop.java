package shop;

import java.io.Serializable;
import java.util.Set;

/** The provider's interface, which is newer than the caller's interface. */
public interface Shop {

    enum Color {
        RED,
        BLUE
    }

    class Bean implements Serializable {
        public long number;
        public String added = "initial";
    }

    record Item(String name, String added) implements Serializable {}

    class Animal implements Serializable {
        public String name;
    }

    class Dog extends Animal {}

    class Problem extends Exception {
        public Problem(String message) {
            super(message);
        }
    }

    class NewProblem extends Problem {
        public NewProblem(String message) {
            super(message);
        }
    }

    String kept(String text);

    String added(String text);

    String moreParameters(String text, String other);

    String fewerParameters(String text);

    String widerParameter(long number);

    long widerResult();

    String renamedParameter(String after);

    String overloaded(String text);

    String overloaded(String text, int number);

    String addedToBean(Bean bean);

    Bean lostFromBean();

    Bean widerField(Bean bean);

    String addedToRecord(Item item);

    Item lostByCallers();

    Color color(Color color);

    Color newColor();

    Animal animal();

    void problem() throws Problem;

    Set<String> collection();
}
