package shop;

import java.io.Serializable;
import java.util.List;

/** The caller's interface, which is older than the provider's interface. */
public interface Shop {

    enum Color {
        RED
    }

    class Bean implements Serializable {
        public int number;
        public String lost = "initial";
    }

    record Item(String name) implements Serializable {}

    class Animal implements Serializable {
        public String name;
    }

    class Problem extends Exception {
        public Problem(String message) {
            super(message);
        }
    }

    String kept(String text);

    String lost(String text);

    String moreParameters(String text);

    String fewerParameters(String text, String other);

    String widerParameter(int number);

    int widerResult();

    String renamedParameter(String before);

    String overloaded(String text);

    String addedToBean(Bean bean);

    Bean lostFromBean();

    Bean widerField(Bean bean);

    String addedToRecord(Item item);

    Item lostByCallers();

    Color color(Color color);

    Color newColor();

    Animal animal();

    void problem() throws Problem;

    List<String> collection();
}
