from django.http import HttpResponse
from django.shortcuts import redirect, render

from .models import Ticket
from .rules import desk, is_spam


def write(request):
    if request.method == "POST":
        text = request.POST.get("text", "")
        subject = request.POST.get("subject", "").strip()
        if not subject:
            return render(request, "support/write.html", {"error": "Say what it is about."}, status=400)
        if not is_spam(text):
            Ticket.objects.create(
                email=request.POST.get("email", ""), subject=f"[{desk(subject, text)}] {subject}", text=text
            )
        return redirect("thanks")
    return render(request, "support/write.html")


def thanks(request):
    return HttpResponse("Thank you.")
